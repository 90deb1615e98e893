import { MAX_MICROCREDITS } from '../../../orchestrator/ports/microcredits.ts';
import { invalid } from '../../../platform/errors.ts';
import type { Queryable } from '../../../platform/postgres/transaction.ts';
import {
  added,
  bySpending,
  charge,
  chargeOf,
  expire,
  nothing,
  open,
  reverse,
  type SpendableAccount,
  setRemainders,
} from './books.ts';
import {
  type AccountRow,
  type Balances,
  hasExpired,
  isPosted,
  type LockedBooks,
  openAccount,
  readAccount,
  readGrants,
  writeBooks,
} from './store.ts';

/**
 * Writes all ledger entries, under the lock of the account and inside the caller's transaction. Charges up to that time
 * (count-store.ts) are counted and posted first, so that entries are in order. The engine waits for none of this.
 */

/** A grant to be made; `amount` and times as in `Grant`. */
export type NewGrant = {
  tenantId: string;
  account: SpendableAccount;
  amount: number;
  expiresAt: number | null;
  /** The source of the credits: `trial`, `period`, `topup`, `code`, `operator`. */
  source: string;
  /** A grant with this reference is made only once; null: every call makes a grant. */
  reference: string | null;
  note: string;
  at: number;
};

/**
 * Grants credits (kind `grant`); the allowance becomes the resulting total. Returns false if the reference was granted
 * before, or if the amount is 0. Removes credits that have expired by then first. Throws AppError 422 beyond MAX_MICROCREDITS.
 */
export async function grantCredits(db: Queryable, grant: NewGrant): Promise<boolean> {
  const { tenantId, at, reference, amount } = grant;
  checkAmount(amount);
  if (amount === 0) return false;
  const books = await lockBooks(db, tenantId, at);
  if (reference !== null && (await isPosted(db, tenantId, 'grant', reference))) return false;
  open(books, 'grant', { ...grant, createdAt: at });
  expire(books, at); // it may already have expired
  await writeBooks(db, tenantId, books);
  return true;
}

/**
 * Reverses the remainder of the grant with that `reference`, at most `amount` (default: all of it); spent and expired
 * credits are unaffected. Happens once for each `kindReference`. Returns the reversed microcredits.
 */
export async function reverseGrant(
  db: Queryable,
  reversal: { tenantId: string; reference: string; amount?: number; kindReference: string; note: string; at: number },
): Promise<number> {
  const { tenantId, reference, amount: most = MAX_MICROCREDITS, kindReference, note, at } = reversal;
  checkAmount(most);
  const books = await lockBooks(db, tenantId, at);
  const grant = books.grants.find(each => each.reference === reference && each.source !== REFUND);
  if (grant === undefined || (await isPosted(db, tenantId, 'reversal', kindReference))) return 0;
  const taken = reverse(books, grant, { most, reference: kindReference, note, at });
  await writeBooks(db, tenantId, books);
  return taken;
}

/** The source of a grant that refunds charges. */
const REFUND = 'refund';

/**
 * Refunds charges as pay-as-you-go credits that never expire. Happens once for each reference: returns false for a
 * repetition. Throws AppError 422 for more than was charged and not yet refunded.
 */
export async function refundCredits(
  db: Queryable,
  refund: { tenantId: string; amount: number; reference: string; note: string; at: number },
): Promise<boolean> {
  const { tenantId, amount, reference, note, at } = refund;
  checkAmount(amount);
  if (amount === 0) return false;
  const books = await lockBooks(db, tenantId, at);
  if (await isPosted(db, tenantId, 'refund', reference)) return false;
  open(books, 'refund', { account: 'payg', amount, source: REFUND, reference, note, expiresAt: null, createdAt: at });
  await writeBooks(db, tenantId, books);
  return true;
}

/** Removes the remainders of all grants that have expired by `now`, earliest first. Returns the microcredits that expired. */
export async function expireDue(db: Queryable, tenantId: string, now: number): Promise<number> {
  if (!(await hasExpired(db, tenantId, new Date(now)))) return 0;
  const books = await lockBooks(db, tenantId, now);
  await writeBooks(db, tenantId, books);
  return books.entries.reduce((sum, { amounts }) => sum + amounts.expired, 0);
}

/** Posts the charges since the last entry as one entry, at `at`. Returns its microcredits. */
export async function postCharges(db: Queryable, tenantId: string, at: number): Promise<number> {
  const account = await readAccount(db, tenantId, '');
  if (account === null || account.unposted === 0) return 0;
  const books = await lockBooks(db, tenantId, at);
  await writeBooks(db, tenantId, books);
  return books.entries.reduce((sum, { kind, amounts }) => sum + (kind === 'charge' ? amounts.consumed : 0), 0);
}

/** Returns the balances of a workspace, with unposted charges already subtracted; all 0 if it has no account yet. */
export async function readBalances(db: Queryable, tenantId: string): Promise<Balances> {
  const account = await readAccount(db, tenantId, '');
  if (account === null) return { ...nothing, allowance: 0, nextExpiryAt: null, whenExhausted: 'fail' };
  const { posted, unposted, charged: _, counted: __, ...rest } = account;
  return { ...added(posted, chargeOf(posted, unposted)), ...rest };
}

function checkAmount(amount: number): void {
  if (Number.isInteger(amount) && amount >= 0 && amount <= MAX_MICROCREDITS) return;
  throw invalid('This is not an amount of credits.', undefined, 'invalid_amount');
}

/**
 * Locks the account (creating it if necessary), posts the charges, updates its grants, and removes credits
 * that have expired by `at`.
 */
async function lockBooks(db: Queryable, tenantId: string, at: number): Promise<LockedBooks> {
  const account = (await readAccount(db, tenantId, 'FOR NO KEY UPDATE')) ?? (await openAndLock(db, tenantId, at));
  const grants = await readGrants(db, tenantId);
  const { posted: balances, charged, counted, unposted, allowance } = account;
  const inOrder = grants.sort(bySpending);
  const books = { balances, charged, counted, allowance, grants: inOrder, entries: [], opened: [] };
  charge(books, unposted, at);
  setRemainders(books);
  expire(books, at);
  return books;
}

async function openAndLock(db: Queryable, tenantId: string, at: number): Promise<AccountRow> {
  await openAccount(db, tenantId, at);
  const opened = await readAccount(db, tenantId, 'FOR NO KEY UPDATE');
  if (opened === null) throw new Error(`the account of ${tenantId} is gone`);
  return opened;
}
