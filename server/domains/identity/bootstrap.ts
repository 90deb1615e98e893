import { ConfigError, type OwnerSettings } from '../../operation/config.ts';
import type { Services } from '../../operation/services.ts';
import { deriveKey, randomToken } from '../../platform/crypto/digest.ts';
import { parseMasterKey } from '../../platform/crypto/master-key.ts';
import { hashPassword } from '../../platform/crypto/password.ts';
import { createFirstOwner, hasOwner, holdSetupToken } from './first-owner.ts';
import { generatePatToken, isWellFormedPat } from './pats/token.ts';
import { Email, Password } from './schemas.ts';

/**
 * The credentials that start-up prints once. `password` and `pat` are present only if they were generated:
 * configured ones are known.
 */
export type SeededOwner =
  | { created: true; email: string; tenantId: string; password?: string; pat?: string }
  | { created: false; setupToken?: string };

export const exampleOwnerEmail = 'owner@baton.local';

type Owner = { email: string; password: string; pat: string | undefined };

/** Returns the problems of BATON_OWNER_* and BATON_PAT, without repeating their values. */
export function ownerProblems({ ownerEmail, ownerPassword, pat, seed }: OwnerSettings): string[] {
  const wrong = (schema: typeof Email | typeof Password, value: string | undefined) =>
    value !== undefined && !schema.safeParse(value).success;
  return [
    ...(wrong(Email, ownerEmail) ? ['BATON_OWNER_EMAIL: must be an email address'] : []),
    ...(wrong(Password, ownerPassword) ? ['BATON_OWNER_PASSWORD: must be 10 to 200 characters'] : []),
    ...(pat !== undefined && !isWellFormedPat(pat)
      ? ['BATON_PAT: must be pat_, 40 letters and digits, and their checksum of 6']
      : []),
    ...(ownerEmail !== undefined && ownerPassword === undefined
      ? ['BATON_OWNER_PASSWORD: must be set with BATON_OWNER_EMAIL; both may be unset once there is an owner']
      : []),
    ...(pat !== undefined && ownerEmail === undefined && seed === 'none'
      ? ['BATON_PAT: needs BATON_OWNER_EMAIL, whose token it becomes; both may be unset once there is an owner']
      : []),
  ];
}

/** Returns the owner of BATON_OWNER_*, which have been checked; undefined if none is configured. */
function configuredOwner({ ownerEmail, ownerPassword, pat }: OwnerSettings): Owner | undefined {
  return ownerEmail === undefined
    ? undefined
    : { email: Email.parse(ownerEmail), password: Password.parse(ownerPassword), pat };
}

/** Returns a set-up token; in a cluster the same at every node, which must accept what another one printed. */
function setupTokenOf({ config, cluster }: Pick<Services, 'config' | 'cluster'>): string {
  const { masterKey } = config.identity;
  if (cluster === null || masterKey === undefined) return randomToken(24);
  const key = parseMasterKey(masterKey, 'BATON_MASTER_KEY');
  return deriveKey(key, `setup/${cluster.deploymentId}`, 24).toString('base64url');
}

/**
 * Ensures that there is a first owner, or a way to become it (docs/specification/authentication.md#first-owner). On a
 * database without users: BATON_OWNER_* creates the owner; otherwise BATON_SEED=example (the default on the embedded
 * database) creates a local one with a random password and token; otherwise a set-up token is held in memory for POST
 * /v1/setup. If there are users, it does nothing. Throws ConfigError for unusable variables.
 */
export async function seedFirstOwner(services: Services): Promise<SeededOwner> {
  if (await hasOwner(services)) return { created: false };
  const { identity } = services.config;
  const problems = ownerProblems(identity);
  if (problems.length > 0) throw new ConfigError(problems.join('\n'));
  const configured = configuredOwner(identity);
  if (!configured && identity.seed === 'none') {
    const setupToken = setupTokenOf(services);
    holdSetupToken(services, setupToken);
    return { created: false, setupToken };
  }
  const tenantId = identity.tenant;
  const owner = configured ?? {
    email: exampleOwnerEmail,
    password: randomToken(15),
    pat: identity.pat ?? generatePatToken(),
  };
  const created = await createFirstOwner(services, {
    tenantId,
    email: owner.email,
    name: 'Owner',
    passwordHash: await hashPassword(owner.password),
    ...(owner.pat === undefined ? {} : { patToken: owner.pat }),
  });
  if (!created) return { created: false };
  if (configured) return { created: true, email: owner.email, tenantId };
  const pat = identity.pat === undefined ? owner.pat : undefined;
  return {
    created: true,
    email: owner.email,
    tenantId,
    password: owner.password,
    ...(pat === undefined ? {} : { pat }),
  };
}
