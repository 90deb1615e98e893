import { MOST_MICROCREDITS, toMicrocredits } from '../../../contract/microcredits.ts';
import { invalid } from '../../../platform/errors.ts';
import type { Queryable } from '../../../platform/postgres/transaction.ts';
import {
  type Account,
  type Amounts,
  accounts,
  added,
  type Books,
  bySpending,
  charge,
  chargeOf,
  expire,
  type Grant,
  nextExpiry,
  nothing,
  open,
  reverse,
  type SpendableAccount,
  settle,
} from './books.ts';
import { COUNTED, readUncounted } from './count-store.ts';

/**
 * Every entry of the ledger, under the lock of its account and inside the caller's transaction. What was charged until then (count-store.ts)
 * is counted and posted first, so that the ledger has everything in its order. The engine waits for none of it.
 */

/** What stands in a workspace's accounts, in microcredits; times in ms since the epoch. */
export type Balances = Amounts & { allowance: number; nextExpiryAt: number | null; whenExhausted: 'fail' | 'pause' };

/** What a grant is; `amount` and times as in `Grant`. */
export type NewGrant = {
  tenantId: string;
  account: SpendableAccount;
  amount: number;
  expiresAt: number | null;
  /** Where it comes from: `trial`, `period`, `topup`, `code`, `operator`. */
  source: string;
  /** Granted once for each; null: each call is a grant of its own. */
  reference: string | null;
  note: string;
  at: number;
};

/** Opens a workspace's account where it has none. */
export async function openAccount(db: Queryable, tenantId: string, at: number): Promise<void> {
  await db.query('INSERT INTO credit_accounts (tenant_id, created_at) VALUES ($1, $2) ON CONFLICT DO NOTHING', [
    tenantId,
    new Date(at),
  ]);
}

/**
 * Grants credits (kind `grant`), with `allowance` as all that is there afterwards. False: that reference was granted before, or
 * there is nothing to grant. What has expired by then is taken first. AppError 422 beyond MOST_MICROCREDITS.
 */
export async function grantCredits(db: Queryable, grant: NewGrant): Promise<boolean> {
  const { tenantId, at, reference, amount } = grant;
  checkAmount(amount);
  if (amount === 0) return false;
  const books = await lockBooks(db, tenantId, at);
  if (reference !== null && (await isPosted(db, tenantId, 'grant', reference))) return false;
  open(books, 'grant', { ...grant, createdAt: at });
  expire(books, at); // it may have come too late
  await write(db, tenantId, books);
  return true;
}

/**
 * Takes back what is left of the grant with that `reference`, at most `amount` (default: all of it); what was spent or has
 * expired stays so. Once for each `kindReference`. Returns the microcredits that were taken.
 */
export async function takeBack(
  db: Queryable,
  asked: { tenantId: string; reference: string; amount?: number; kindReference: string; note: string; at: number },
): Promise<number> {
  const { tenantId, reference, amount: most = MOST_MICROCREDITS, kindReference, note, at } = asked;
  checkAmount(most);
  const books = await lockBooks(db, tenantId, at);
  const grant = books.grants.find(each => each.reference === reference && each.source !== REFUND);
  if (grant === undefined || (await isPosted(db, tenantId, 'reversal', kindReference))) return 0;
  const taken = reverse(books, grant, { most, reference: kindReference, note, at });
  await write(db, tenantId, books);
  return taken;
}

/** The source of a grant that gives back what was charged. */
const REFUND = 'refund';

/**
 * Gives back credits that were charged, as pay-as-you-go credits that never expire. Once for each reference: false where it was
 * done before. AppError 422 for more than was ever charged and not yet given back.
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
  await write(db, tenantId, books);
  return true;
}

/** Takes what is left of every grant that has expired by `now`, the earliest first. Returns the microcredits that expired. */
export async function expireDue(db: Queryable, tenantId: string, now: number): Promise<number> {
  const { rowCount } = await db.query('SELECT FROM credit_accounts WHERE tenant_id = $1 AND next_expiry_at <= $2', [
    tenantId,
    new Date(now),
  ]);
  if (rowCount === 0) return 0;
  const books = await lockBooks(db, tenantId, now);
  await write(db, tenantId, books);
  return books.movements.reduce((sum, { amounts }) => sum + amounts.expired, 0);
}

/** Posts what was charged since the last entry, as one, at `at`. Returns its microcredits. */
export async function postCharges(db: Queryable, tenantId: string, at: number): Promise<number> {
  const account = await readAccount(db, tenantId, '');
  if (account === null || account.unposted === 0) return 0;
  const books = await lockBooks(db, tenantId, at);
  await write(db, tenantId, books);
  return books.movements.reduce((sum, { kind, amounts }) => sum + (kind === 'charge' ? amounts.consumed : 0), 0);
}

/** What stands in a workspace's accounts, posted or not; nothing anywhere where it has none yet. */
export async function readBalances(db: Queryable, tenantId: string): Promise<Balances> {
  const account = await readAccount(db, tenantId, '');
  if (account === null) return { ...nothing, allowance: 0, nextExpiryAt: null, whenExhausted: 'fail' };
  const { posted, unposted, charged: _, counted: __, ...rest } = account;
  return { ...added(posted, chargeOf(posted, unposted)), ...rest };
}

/** The accounts as the ledger has them, all that was charged, what of it is not posted, and up to which number that is counted. */
type AccountRow = Omit<Balances, Account> & { posted: Amounts; charged: number; unposted: number; counted: number };

async function readAccount(
  db: Queryable,
  tenantId: string,
  lock: '' | 'FOR NO KEY UPDATE',
): Promise<AccountRow | null> {
  type Row = Record<(typeof written)[number] | 'charged' | 'posted' | 'counted' | 'allowance', string> & {
    next_expiry_at: Date | null;
    when_exhausted: 'fail' | 'pause';
  };
  const { rows } = await db.query<Row>(
    `SELECT ${written.join(', ')}, charged, posted, ${COUNTED} AS counted, allowance, next_expiry_at, when_exhausted
     FROM credit_accounts a WHERE tenant_id = $1 ${lock}`,
    [tenantId],
  );
  const [row] = rows;
  if (row === undefined) return null;
  const counted = toMicrocredits(row.counted);
  const more = (await readUncounted(db, [{ tenantId, counted }])).get(tenantId);
  const charged = Math.min(toMicrocredits(row.charged) + (more?.microcredits ?? 0), MOST_MICROCREDITS);
  const posted = { ...nothing };
  for (const account of written) {
    posted[account] = toMicrocredits(row[account]);
    posted.granted -= posted[account];
  }
  return {
    posted,
    charged,
    unposted: charged - toMicrocredits(row.posted),
    counted: more?.upTo ?? counted,
    allowance: toMicrocredits(row.allowance),
    nextExpiryAt: row.next_expiry_at?.getTime() ?? null,
    whenExhausted: row.when_exhausted,
  };
}

function checkAmount(amount: number): void {
  if (Number.isInteger(amount) && amount >= 0 && amount <= MOST_MICROCREDITS) return;
  throw invalid('That is no amount of credits.', undefined, 'invalid_amount');
}

/** What was charged, all of which is posted when the books are written. */
type LockedBooks = Books & { charged: number; counted: number };

/**
 * Locks the account (and opens it where there is none), posts what was charged, settles its grants, and takes what has expired
 * by `at`.
 */
async function lockBooks(db: Queryable, tenantId: string, at: number): Promise<LockedBooks> {
  const account = (await readAccount(db, tenantId, 'FOR NO KEY UPDATE')) ?? (await openAndLock(db, tenantId, at));
  type Row = Omit<Grant, 'amount' | 'remaining' | 'expiresAt' | 'createdAt'> & {
    amount: string;
    remaining: string;
    expires_at: Date | null;
    created_at: Date;
  };
  const { rows } = await db.query<Row>(
    `SELECT id, account, amount, remaining, source, reference, note, expires_at, created_at
     FROM credit_grants WHERE tenant_id = $1 AND remaining > 0`,
    [tenantId],
  );
  const grants = rows.map(({ expires_at, created_at, ...row }) => ({
    ...row,
    amount: toMicrocredits(row.amount),
    remaining: toMicrocredits(row.remaining),
    expiresAt: expires_at?.getTime() ?? null,
    createdAt: created_at.getTime(),
  }));
  const { posted: balances, charged, counted, unposted, allowance } = account;
  const inOrder = grants.sort(bySpending);
  const books = { balances, charged, counted, allowance, grants: inOrder, movements: [], opened: [] };
  charge(books, unposted, at);
  settle(books);
  expire(books, at);
  return books;
}

async function openAndLock(db: Queryable, tenantId: string, at: number): Promise<AccountRow> {
  await openAccount(db, tenantId, at);
  const opened = await readAccount(db, tenantId, 'FOR NO KEY UPDATE');
  if (opened === null) throw new Error(`the account of ${tenantId} is gone`);
  return opened;
}

/** Whether it was posted before. Asked under the account's lock, so that nobody posts it between this and `write`. */
async function isPosted(db: Queryable, tenantId: string, kind: string, reference: string): Promise<boolean> {
  const { rowCount } = await db.query(
    'SELECT FROM credit_ledger WHERE tenant_id = $1 AND kind = $2 AND reference = $3',
    [tenantId, kind, reference],
  );
  return rowCount !== 0;
}

/** Writes the books in one statement. */
async function write(db: Queryable, tenantId: string, books: LockedBooks): Promise<void> {
  const { balances, movements, opened, grants } = books;
  const amounts = (account: Account) => movements.map(movement => movement.amounts[account]);
  await db.query(WRITE, [
    tenantId,
    ...written.map(account => balances[account]),
    books.allowance,
    dateOf(nextExpiry(books)),
    movements.map(({ id }) => id),
    movements.map(({ kind }) => kind),
    movements.map(({ reference }) => reference),
    movements.map(({ note }) => note),
    movements.map(({ at }) => new Date(at)),
    ...written.map(amounts),
    opened.map(({ id }) => id),
    opened.map(({ account }) => account),
    opened.map(({ amount }) => amount),
    opened.map(({ source }) => source),
    opened.map(({ reference }) => reference),
    opened.map(({ note }) => note),
    opened.map(({ expiresAt }) => dateOf(expiresAt)),
    opened.map(({ createdAt }) => new Date(createdAt)),
    opened.map(({ remaining }) => remaining),
    grants.filter(grant => !opened.includes(grant)).map(({ id }) => id),
    grants.filter(grant => !opened.includes(grant)).map(({ remaining }) => remaining),
    books.charged,
    books.counted,
  ]);
}

const dateOf = (ms: number | null): Date | null => (ms === null ? null : new Date(ms));

/** `granted` is minus the others. */
const written = accounts.filter(account => account !== 'granted');

const WRITE = `
  WITH posted AS (
    INSERT INTO credit_ledger (tenant_id, id, kind, reference, note, created_at, ${written.join(', ')})
    SELECT $1, * FROM unnest($9::uuid[], $10::text[], $11::text[], $12::text[], $13::timestamptz[],
                             $14::bigint[], $15::bigint[], $16::bigint[], $17::bigint[], $18::bigint[])),
  opened AS (
    INSERT INTO credit_grants (tenant_id, id, account, amount, source, reference, note, expires_at, created_at, remaining)
    SELECT $1, * FROM unnest($19::uuid[], $20::text[], $21::bigint[], $22::text[], $23::text[], $24::text[],
                             $25::timestamptz[], $26::timestamptz[], $27::bigint[])),
  settled AS (
    UPDATE credit_grants g SET remaining = v.remaining FROM unnest($28::uuid[], $29::bigint[]) v(id, remaining)
    WHERE g.tenant_id = $1 AND g.id = v.id AND g.remaining <> v.remaining)
  UPDATE credit_accounts SET trial = $2, included = $3, payg = $4, consumed = $5, expired = $6, allowance = $7,
                             next_expiry_at = $8, charged = $30, posted = $30, counted = $31
  WHERE tenant_id = $1`;
