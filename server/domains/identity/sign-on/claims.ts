import { type Configuration, fetchUserInfo } from 'openid-client';
import type { SignOnSettings } from '../../../operation/sign-on-settings.ts';
import { isPlainObject } from '../../../platform/json.ts';
import { Email, PersonName } from '../schemas.ts';
import { SignOnRefused } from './refusal.ts';

type Claims = Readonly<Record<string, unknown>>;
const isRecord = (value: unknown): value is Claims => isPlainObject(value);

/** A person as the issuer describes it, with a verified address. */
export type Person = { subject: string; email: string; name: string; groups: ReadonlySet<string> };

/**
 * Returns the claims of an ID token, completed by those of the userinfo endpoint where the token lacks the address or
 * the groups. An address is taken together with the claim that verifies it, from one of the two.
 */
export async function readClaims(
  client: Configuration,
  { claims, accessToken }: { claims: Claims & { sub: string }; accessToken: string },
  settings: SignOnSettings,
): Promise<Claims> {
  const hasGroups = settings.roleMap === null || claimAt(claims, settings.groupsClaim) !== undefined;
  const complete = 'email' in claims && 'email_verified' in claims && hasGroups;
  if (complete || client.serverMetadata().userinfo_endpoint === undefined) return claims;
  const info: Claims = await fetchUserInfo(client, accessToken, claims.sub);
  const address = 'email' in claims && 'email_verified' in claims ? claims : info;
  return { ...info, ...claims, email: address.email, email_verified: address.email_verified };
}

/** Returns the person of these claims. Throws SignOnRefused for an address that is unverified or of another domain. */
export function readPerson(subject: string, claims: Claims, settings: SignOnSettings): Person {
  const email = Email.safeParse(claims.email).data;
  if (email === undefined || claims.email_verified !== true)
    throw new SignOnRefused('sign_on_unverified', 'the issuer gave no address with "email_verified": true');
  const domain = email.slice(email.lastIndexOf('@') + 1);
  if (settings.allowedDomains !== null && !settings.allowedDomains.has(domain))
    throw new SignOnRefused('sign_on_domain', 'the domain of the address is not in BATON_OIDC_ALLOWED_DOMAINS');
  return { subject, email, name: nameIn(claims, email), groups: groupsIn(claims, settings) };
}

function nameIn(claims: Claims, email: string): string {
  const texts = [claims.name, claims.preferred_username, email.slice(0, email.indexOf('@')).slice(0, 120)];
  for (const text of texts) {
    const name = PersonName.safeParse(text);
    if (name.success) return name.data;
  }
  return 'Member';
}

function groupsIn(claims: Claims, { groupsClaim, roleMap }: SignOnSettings): ReadonlySet<string> {
  if (roleMap === null) return new Set();
  const value = claimAt(claims, groupsClaim);
  // OpenID Connect Core §5.6.2: the claim is elsewhere. Reading it as "no groups" would take every role away.
  if (value === undefined && isRecord(claims._claim_names) && groupsClaim in claims._claim_names)
    throw new SignOnRefused('sign_on_groups', `the issuer left the claim "${groupsClaim}" out: it is too long`);
  const listed = Array.isArray(value) ? value : [value];
  return new Set(listed.filter(group => typeof group === 'string'));
}

/** Returns a claim by its name, or by its path such as `realm_access.roles`. A name may contain dots itself. */
function claimAt(claims: Claims, path: string): unknown {
  if (Object.hasOwn(claims, path)) return claims[path];
  let value: unknown = claims;
  for (const name of path.split('.')) {
    if (!isRecord(value) || !Object.hasOwn(value, name)) return undefined;
    value = value[name];
  }
  return value;
}
