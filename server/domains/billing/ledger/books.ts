import { MAX_MICROCREDITS } from '../../../orchestrator/ports/microcredits.ts';
import { invalid } from '../../../platform/errors.ts';
import { newId } from '../../../platform/ids.ts';

/** The accounts that credits are spent from, in spending order (docs/specification/billing.md#credits). */
export const spendable = ['trial', 'included', 'payg'] as const;
export type SpendableAccount = (typeof spendable)[number];
export const accounts = [...spendable, 'consumed', 'expired', 'granted'] as const;
export type Account = (typeof accounts)[number];
/** Microcredits by account: the amounts of a ledger entry, or the balances of the accounts. */
export type Amounts = Record<Account, number>;
export const nothing: Readonly<Amounts> = { trial: 0, included: 0, payg: 0, consumed: 0, expired: 0, granted: 0 };

/** One grant, with its remainder as of the last entry that was not a charge. Times in ms since the epoch. */
export type Grant = {
  id: string;
  account: SpendableAccount;
  amount: number;
  remaining: number;
  source: string;
  reference: string | null;
  note: string;
  expiresAt: number | null;
  createdAt: number;
};

/** One row of the ledger. */
export type NewEntry = {
  id: string;
  kind: 'grant' | 'charge' | 'expiry' | 'refund' | 'reversal';
  amounts: Amounts;
  /** Null for charges. */
  reference: string | null;
  note: string;
  at: number;
};

/** A workspace's account while its row is locked: its balances, its live grants, and the rows to be written. */
export type Books = {
  balances: Amounts;
  allowance: number;
  /** Grants with a remaining amount, in the order in which they are spent within their account. */
  grants: Grant[];
  entries: NewEntry[];
  opened: Grant[];
};

/** Compares grants: earliest expiry first, those without expiry last; with the same expiry, the older one first. */
export function bySpending(a: Pick<Grant, 'expiresAt' | 'id'>, b: Pick<Grant, 'expiresAt' | 'id'>): number {
  const [left, right] = [a.expiresAt ?? Number.POSITIVE_INFINITY, b.expiresAt ?? Number.POSITIVE_INFINITY];
  if (left !== right) return left < right ? -1 : 1;
  return a.id < b.id ? -1 : a.id > b.id ? 1 : 0;
}

/**
 * Returns the change of each account by a charge. Credits are taken from trial, included and pay-as-you-go, in this
 * order. What they do not cover counts as granted, so that no balance is ever negative. One charge has the same
 * effect as several, if no other entry comes between them.
 */
export function chargeOf(balances: Pick<Amounts, SpendableAccount>, amount: number): Amounts {
  const amounts = { ...nothing, consumed: amount };
  let left = amount;
  for (const account of spendable) {
    const taken = Math.min(left, balances[account]);
    amounts[account] -= taken;
    left -= taken;
  }
  amounts.granted -= left;
  return amounts;
}

/** Adds an entry for what the engine has charged since the last entry. */
export function charge(books: Books, amount: number, at: number): void {
  if (amount > 0)
    move(books, { kind: 'charge', amounts: chargeOf(books.balances, amount), reference: null, note: '', at });
}

/**
 * Sets the remainder of each grant. Charges change only the account's balance. They always use up the grant that
 * expires first, so the balance belongs to the grants that expire last.
 */
export function setRemainders(books: Books): void {
  for (const account of spendable) {
    let left = books.balances[account];
    for (const grant of books.grants.filter(each => each.account === account).reverse()) {
      grant.remaining = Math.min(grant.remaining, left);
      left -= grant.remaining;
    }
  }
}

/** Expires the remainders of the grants that are due at `now`, earliest first, with one entry each. Returns the expired microcredits. */
export function expire(books: Books, now: number): number {
  let expired = 0;
  for (const grant of books.grants) {
    if (grant.expiresAt === null || grant.expiresAt > now || grant.remaining === 0) continue;
    const taken = grant.remaining;
    grant.remaining = 0;
    expired += taken;
    move(books, {
      kind: 'expiry',
      amounts: { ...nothing, [grant.account]: -taken, expired: taken },
      reference: grant.id,
      note: grant.note,
      at: now,
    });
    lowerAllowance(books, taken);
  }
  return expired;
}

/** Adds a grant. Call `setRemainders` first, for the earlier grants. Throws AppError 422 beyond the limits. */
export function open(books: Books, kind: 'grant' | 'refund', grant: Omit<Grant, 'id' | 'remaining'>): void {
  const id = newId();
  const from = kind === 'grant' ? 'granted' : 'consumed';
  if (kind === 'grant' && grant.amount - books.balances.granted > MAX_MICROCREDITS)
    throw invalid('That would be more credits than a workspace can have been granted.', undefined, 'credit_limit');
  if (kind === 'refund' && grant.amount > books.balances.consumed)
    throw invalid('That is more than was ever charged.', undefined, 'refund_exceeds_charges');
  const made = { ...grant, id, remaining: grant.amount, reference: grant.reference ?? id };
  move(books, {
    kind,
    amounts: { ...nothing, [grant.account]: grant.amount, [from]: -grant.amount },
    reference: made.reference,
    note: grant.note,
    at: grant.createdAt,
  });
  books.opened.push(made);
  books.grants = [...books.grants, made].sort(bySpending);
  books.allowance = total(books.balances);
}

/** Reverses at most `most` of a grant's remainder. Returns the reversed microcredits. */
export function reverse(
  books: Books,
  grant: Grant,
  { most, ...said }: { most: number; reference: string; note: string; at: number },
): number {
  const taken = Math.min(most, grant.remaining);
  if (taken === 0) return 0;
  grant.remaining -= taken;
  move(books, {
    kind: 'reversal',
    amounts: { ...nothing, [grant.account]: -taken, granted: taken },
    ...said,
  });
  lowerAllowance(books, taken);
  return taken;
}

/** Returns when the next grant expires. */
export function nextExpiry(books: Books): number | null {
  const times = books.grants.flatMap(({ expiresAt, remaining }) =>
    expiresAt === null || remaining === 0 ? [] : [expiresAt],
  );
  return times.length === 0 ? null : Math.min(...times);
}

/** Returns the total that can be spent. */
export const total = (balances: Pick<Amounts, SpendableAccount>): number =>
  balances.trial + balances.included + balances.payg;

/** Subtracts credits that expired or were reversed from the allowance that warnings refer to, because they were not used. */
function lowerAllowance(books: Books, taken: number): void {
  books.allowance = Math.max(0, books.allowance - taken);
}

/** Returns the balances of the accounts after an entry. */
export const added = (balances: Amounts, amounts: Amounts): Amounts => ({
  trial: balances.trial + amounts.trial,
  included: balances.included + amounts.included,
  payg: balances.payg + amounts.payg,
  consumed: balances.consumed + amounts.consumed,
  expired: balances.expired + amounts.expired,
  granted: balances.granted + amounts.granted,
});

function move(books: Books, entry: Omit<NewEntry, 'id'>): void {
  books.balances = added(books.balances, entry.amounts);
  books.entries.push({ ...entry, id: newId() });
}
