import { type Configuration, refreshTokenGrant } from 'openid-client';
import pLimit from 'p-limit';
import { MINUTE_MS } from '../../../platform/clock.ts';
import { DecryptionError, open, seal } from '../../../platform/crypto/envelope.ts';
import { oauthFailure } from '../../../platform/oauth/client.ts';
import type { SignOnIdentity } from '../../../platform/postgres/generated/client.ts';
import { transact } from '../../../platform/postgres/transaction.ts';
import { readMemberships, withdrawGrantsOf } from '../member-store.ts';
import { principalCache } from '../principal-cache.ts';
import { forgetTokens } from '../replace-accounts.ts';
import { endAllSessions } from '../session-store.ts';
import { admitPerson } from './account.ts';
import { readClaims, readPerson } from './claims.ts';
import { clientOf, refusalOf } from './flow.ts';
import type { Parts } from './parts.ts';
import { type SignOnReason, SignOnRefused } from './refusal.ts';
import { claimCheck, dropRefreshToken, listDueIdentities, saveRefreshToken } from './store.ts';

/** The issuer is asked this often about each person. */
const CHECK_EVERY_MS = 5 * MINUTE_MS;
const BATCH = 100;
/** Requests to the issuer at a time. */
const AT_ONCE = 4;
/** The refusals by which a person could not sign in now. Others say nothing about the person. */
const FINAL: ReadonlySet<SignOnReason> = new Set<SignOnReason>(['sign_on_unverified', 'sign_on_domain']);

const placeOf = (issuer: string, subject: string) => ['sign-on', 'refresh-token', issuer, subject];

/**
 * Keeps the refresh token of a sign-in, sealed. Only with the scope `offline_access`: without it a refresh token ends with the
 * session at the issuer, and its end says nothing about the person.
 */
export async function keepRefreshToken(
  { services, settings, key }: Parts,
  subject: string,
  token: string | undefined,
): Promise<void> {
  const { issuer, scopes } = settings.oauth;
  const kept = token !== undefined && scopes.includes('offline_access');
  const refreshToken = kept ? new Uint8Array(seal(key, Buffer.from(token), placeOf(issuer, subject))) : null;
  const checkedAt = new Date(services.clock.now());
  await saveRefreshToken(services.prisma, { issuer, subject }, { refreshToken, checkedAt });
}

/** Asks the issuer about everybody who is due. Throws SignOnRefused if the issuer's metadata cannot be read. */
export async function recheckPeople(parts: Parts, closing: AbortSignal): Promise<void> {
  const { services, settings, flow } = parts;
  const { issuer, scopes } = settings.oauth;
  if (!scopes.includes('offline_access')) return;
  const limit = pLimit(AT_ONCE);
  const before = new Date(services.clock.now() - CHECK_EVERY_MS);
  for (let due = BATCH; due === BATCH && !closing.aborted; ) {
    const people = await listDueIdentities(services.prisma, issuer, before, BATCH);
    due = people.length;
    if (due === 0) return;
    const client = await clientOf(flow, settings);
    const check = (person: SignOnIdentity) =>
      limit(() => (closing.aborted ? undefined : recheck(parts, client, person)));
    await Promise.all(people.map(check)).finally(() => limit.clearQueue());
  }
}

/** Asks the issuer about one person. A failure that says nothing about the person is logged, and asked again later. */
async function recheck(parts: Parts, client: Configuration, row: SignOnIdentity): Promise<void> {
  const { services } = parts;
  try {
    if (row.refreshToken === null || !(await claimCheck(services.prisma, row, new Date(services.clock.now())))) return;
    const reason = await refusalBy(parts, client, row, row.refreshToken);
    if (reason !== null) await endAccess(parts, row, reason);
  } catch (error) {
    const refused = refusalOf(error);
    // Nobody can be checked now: one line instead of one for each person.
    if (refused.reason === 'sign_on_unavailable') throw refused;
    services.logger.warn({ reason: refused.reason, user_id: row.userId }, `sign-on not checked: ${refused.message}`);
  }
}

/** Returns why the person may not sign in any more; null if the issuer still lets the person in. Roles follow the groups. */
async function refusalBy(
  parts: Parts,
  client: Configuration,
  { issuer, subject }: SignOnIdentity,
  sealed: Uint8Array,
): Promise<SignOnReason | null> {
  const { services, settings, key } = parts;
  const token = opened(key, sealed, placeOf(issuer, subject));
  if (token === null) {
    await dropRefreshToken(services.prisma, { issuer, subject }, sealed);
    throw new SignOnRefused('sign_on_denied', 'the kept refresh token is of another master key, and was dropped');
  }
  const tokens = await refreshTokenGrant(client, token).catch(error => {
    const failure = oauthFailure(error);
    if ('refused' in failure && failure.refused === 'invalid_grant') return null;
    throw error;
  });
  // Another token was kept meanwhile: the person has just signed in.
  if (tokens === null)
    return (await dropRefreshToken(services.prisma, { issuer, subject }, sealed)) ? 'sign_on_denied' : null;
  await keepRefreshToken(parts, subject, tokens.refresh_token ?? token);
  const claims = tokens.claims();
  // Without an ID token the claims may be incomplete, and would take roles away.
  if (claims === undefined) return null;
  if (claims.sub !== subject) throw new SignOnRefused('sign_on_untrusted', 'the issuer answered about another person');
  try {
    const all = await readClaims(client, { claims, accessToken: tokens.access_token }, settings);
    await admitPerson(services, readPerson(subject, all, settings), settings);
    return null;
  } catch (error) {
    if (error instanceof SignOnRefused && (FINAL.has(error.reason) || error.reason === 'sign_on_no_role'))
      return error.reason;
    throw error;
  }
}

/** Returns the token; null if another master key sealed it, or for another person. */
function opened(key: Uint8Array, sealed: Uint8Array, place: readonly string[]): string | null {
  try {
    return open(key, sealed, place).toString();
  } catch (error) {
    if (error instanceof DecryptionError) return null;
    throw error;
  }
}

/** Ends all sessions and revokes all tokens of the account, and withdraws its open invitations. */
async function endAccess(
  { services, record }: Parts,
  { issuer, subject, userId }: SignOnIdentity,
  reason: SignOnReason,
): Promise<void> {
  const at = new Date(services.clock.now());
  const { dead, tenants } = await transact(services, async tx => {
    const memberships = await readMemberships(tx, userId);
    await endAllSessions(tx, userId);
    await saveRefreshToken(tx, { issuer, subject }, { refreshToken: null, checkedAt: at });
    return { dead: await withdrawGrantsOf(tx, userId, at), tenants: memberships.map(({ tenantId }) => tenantId) };
  });
  principalCache(services).clear();
  await forgetTokens(services, dead);
  services.logger.info({ user_id: userId, reason }, 'sign-on: the access of a person has ended');
  for (const tenantId of tenants)
    await record({ tenantId, userId, operation: 'access_ended', outcome: 'ok', address: null });
}
