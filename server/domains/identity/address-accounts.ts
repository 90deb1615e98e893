import type { Pool } from 'pg';
import type { Services } from '../../operation/services.ts';
import { MINUTE_MS } from '../../platform/clock.ts';
import type { Requester } from '../../platform/crypto/fair-queue.ts';
import { haveSameSalt, matchPassword } from '../../platform/crypto/password.ts';
import { AppError, unavailable } from '../../platform/errors.ts';
import type { User } from '../../platform/postgres/generated/client.ts';
import { type Transaction, transact } from '../../platform/postgres/transaction.ts';
import { createUser, readAccounts } from './account-store.ts';
import { lockAddress } from './lock-queries.ts';

/**
 * Several accounts may have one address: at most one that was confirmed through it, and unconfirmed ones, which claim
 * nothing (docs/adr/0014-confirmed-addresses.md). Address and password together identify the account. All hashes of one
 * address have the same salt, so a password is compared with all of them after one key derivation, and the work is the
 * same for any number of accounts.
 */

type MatchServices = Pick<Services, 'prisma' | 'pool' | 'clock' | 'logger'>;
export type Attempt = { email: string | undefined; password: string | undefined; requester: Requester };

/**
 * Returns the account with this address and password, or null after the same work. `passwordHash` is the hash of the
 * password for an account of this address. Throws AppError 429 when too many checks are waiting.
 */
export async function matchAccount(
  services: MatchServices,
  { email, password, requester }: Attempt,
): Promise<{ account: User | null; passwordHash: string }> {
  const accounts = email === undefined ? [] : await readAccounts(services.prisma, email);
  const hashes = password === undefined ? [] : accounts.map(({ passwordHash }) => passwordHash);
  const { matched, hash } = await checkPassword(services, () => matchPassword(password ?? '', hashes, requester));
  return { account: (matched === null ? undefined : accounts[matched]) ?? null, passwordHash: hash };
}

/** The minute in which a full queue was last logged, for each database. */
const loggedBusy = new WeakMap<Pool, number>();

/** Runs a check of a password, and logs once a minute that checks are refused because too many wait. */
export async function checkPassword<T>(
  { pool, clock, logger }: Pick<Services, 'pool' | 'clock' | 'logger'>,
  check: () => Promise<T>,
): Promise<T> {
  try {
    return await check();
  } catch (error) {
    const minute = Math.floor(clock.now() / MINUTE_MS);
    if (error instanceof AppError && error.code === 'sign_in_busy' && loggedBusy.get(pool) !== minute) {
      loggedBusy.set(pool, minute);
      logger.warn('too many password checks are waiting: sign-ins are refused with 429');
    }
    throw error;
  }
}

export type KnownAccount = { id: string; isNew: boolean; confirmed: boolean };

/** How often a concurrent change of the address's accounts is retried before giving up. */
const MAX_TRIES = 5;

/**
 * Runs `work` in a transaction with the account of this address and password, and creates an unconfirmed one with this
 * name if there is none. So the caller learns nothing about other accounts of the address. Throws AppError 429, 503.
 */
export async function withAccount<T>(
  services: MatchServices,
  { email, password, name, requester }: { email: string; password: string; name: string; requester: Requester },
  work: (tx: Transaction, account: KnownAccount, at: Date) => Promise<T>,
): Promise<T> {
  for (let tries = 0; tries < MAX_TRIES; tries++) {
    // Matched before the transaction, which would otherwise hold its locks during the key derivation.
    const { account, passwordHash } = await matchAccount(services, { email, password, requester });
    const done = await transact(services, async tx => {
      await lockAddress(tx, email);
      const present = await readAccounts(tx, email);
      const known =
        present.find(({ id, passwordHash: hash }) => id === account?.id && hash === account.passwordHash) ??
        present.find(({ passwordHash: hash }) => hash === passwordHash);
      const [first] = present;
      // The matched account has changed meanwhile, or an account with another salt was created first.
      if (!known && (account || (first && !haveSameSalt(first.passwordHash, passwordHash)))) return null;
      const at = new Date(services.clock.now());
      const id = known?.id ?? (await createUser(tx, { email, name, passwordHash }, at, { confirmed: false }));
      const confirmed = known ? known.confirmedAt !== null : false;
      return { result: await work(tx, { id, isNew: !known, confirmed }, at) };
    });
    if (done) return done.result;
  }
  throw unavailable('account_busy', 'This account is being changed; try again shortly.');
}
