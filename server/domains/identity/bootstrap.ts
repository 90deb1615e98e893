import { ConfigError } from '../../config.ts';
import { randomToken } from '../../platform/crypto/digest.ts';
import { hashPassword } from '../../platform/crypto/password.ts';
import type { Services } from '../../services.ts';
import { generatePatToken, isWellFormedPat } from '../pats/token.ts';
import { createFirstOwner, hasOwner, holdSetupToken } from './first-owner.ts';
import { Email, Password } from './schemas.ts';

/** What start-up prints, once. `password` and `pat` are there only if they were made here: a configured one is known. */
export type SeededOwner =
  | { created: true; email: string; tenantId: string; password?: string; pat?: string }
  | { created: false; setupToken?: string };

export const exampleOwnerEmail = 'owner@baton.local';

type Owner = { email: string; password: string; pat: string | undefined };

/** BATON_PAT, or undefined; ConfigError if it is not a token. The token itself is never in the message. */
function configuredPat(pat: string | undefined): string | undefined {
  if (pat === undefined || isWellFormedPat(pat)) return pat;
  throw new ConfigError('BATON_PAT: must be pat_, 40 letters and digits, and their checksum of 6');
}

/** BATON_OWNER_*; undefined where no owner is configured. Throws ConfigError naming the variable at fault. */
function configuredOwner({ identity }: Services['config']): Owner | undefined {
  const { ownerEmail, ownerPassword, pat } = identity;
  if (ownerEmail === undefined) return undefined;
  const email = Email.safeParse(ownerEmail).data;
  if (email === undefined) throw new ConfigError('BATON_OWNER_EMAIL: must be an e-mail address');
  if (ownerPassword === undefined) throw new ConfigError('BATON_OWNER_PASSWORD: must be set with BATON_OWNER_EMAIL');
  const password = Password.safeParse(ownerPassword).data;
  if (password === undefined) throw new ConfigError('BATON_OWNER_PASSWORD: must be 10 to 200 characters');
  return { email, password, pat: configuredPat(pat) };
}

/**
 * Sees to it that there is a first owner, or a way to become it (decisions.md, "First start"). On a database without
 * users: BATON_OWNER_* makes the owner; else BATON_SEED=example (the default on the embedded database) makes a local one
 * with a random password and token; else a set-up token is held in memory for POST /v1/setup.
 * With users present it does nothing. Throws ConfigError for unusable variables.
 */
export async function seedFirstOwner(services: Services): Promise<SeededOwner> {
  if (await hasOwner(services)) return { created: false };
  const { identity } = services.config;
  const configured = configuredOwner(services.config);
  if (!configured && identity.seed === 'none') {
    if (identity.pat !== undefined) throw new ConfigError('BATON_PAT: needs BATON_OWNER_EMAIL, whose token it becomes');
    const setupToken = randomToken(24);
    holdSetupToken(services, setupToken);
    return { created: false, setupToken };
  }
  const tenantId = identity.tenant;
  const owner = configured ?? {
    email: exampleOwnerEmail,
    password: randomToken(15),
    pat: configuredPat(identity.pat) ?? generatePatToken(),
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
