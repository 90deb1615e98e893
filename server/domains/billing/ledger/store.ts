import { MAX_MICROCREDITS, toMicrocredits } from '../../../orchestrator/ports/microcredits.ts';
import type { Queryable } from '../../../platform/postgres/transaction.ts';
import { type Account, type Amounts, accounts, type Books, type Grant, nextExpiry, nothing } from './books.ts';
import { COUNTED, readUncounted } from './count-store.ts';

/** The balances of a workspace's accounts, in microcredits; times in ms since the epoch. */
export type Balances = Amounts & { allowance: number; nextExpiryAt: number | null; whenExhausted: 'fail' | 'pause' };

/** Opens a workspace's account if it has none. */
export async function openAccount(db: Queryable, tenantId: string, at: number): Promise<void> {
  await db.query('INSERT INTO credit_accounts (tenant_id, created_at) VALUES ($1, $2) ON CONFLICT DO NOTHING', [
    tenantId,
    new Date(at),
  ]);
}

/**
 * The balances in the ledger, the total charge, the part of it that is not posted, and the number
 * up to which it is counted.
 */
export type AccountRow = Omit<Balances, Account> & {
  posted: Amounts;
  charged: number;
  unposted: number;
  counted: number;
};

/** Returns the account of a workspace, including usage that is not counted yet; null if it has none. */
export async function readAccount(
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
  const charged = Math.min(toMicrocredits(row.charged) + (more?.microcredits ?? 0), MAX_MICROCREDITS);
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

/** Returns the remaining grants of a workspace, unordered. */
export async function readGrants(db: Queryable, tenantId: string): Promise<Grant[]> {
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
  return rows.map(({ expires_at, created_at, ...row }) => ({
    ...row,
    amount: toMicrocredits(row.amount),
    remaining: toMicrocredits(row.remaining),
    expiresAt: expires_at?.getTime() ?? null,
    createdAt: created_at.getTime(),
  }));
}

/**
 * Returns whether the entry was already posted. Call this under the account's lock, so that no other session posts it
 * between this and `writeBooks`.
 */
export async function isPosted(db: Queryable, tenantId: string, kind: string, reference: string): Promise<boolean> {
  const { rowCount } = await db.query(
    'SELECT FROM credit_ledger WHERE tenant_id = $1 AND kind = $2 AND reference = $3',
    [tenantId, kind, reference],
  );
  return rowCount !== 0;
}

/** The account with its charges; writing the books posts all of them. */
export type LockedBooks = Books & { charged: number; counted: number };

/** Writes the books in one statement. */
export async function writeBooks(db: Queryable, tenantId: string, books: LockedBooks): Promise<void> {
  const { balances, entries, opened, grants } = books;
  const amounts = (account: Account) => entries.map(entry => entry.amounts[account]);
  await db.query(WRITE, [
    tenantId,
    ...written.map(account => balances[account]),
    books.allowance,
    dateOf(nextExpiry(books)),
    entries.map(({ id }) => id),
    entries.map(({ kind }) => kind),
    entries.map(({ reference }) => reference),
    entries.map(({ note }) => note),
    entries.map(({ at }) => new Date(at)),
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

/** `granted` is the negated sum of the others. */
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

/** Returns whether a grant that has expired by `now` is still in the account. */
export async function hasExpired(db: Queryable, tenantId: string, now: Date): Promise<boolean> {
  const { rowCount } = await db.query('SELECT FROM credit_accounts WHERE tenant_id = $1 AND next_expiry_at <= $2', [
    tenantId,
    now,
  ]);
  return rowCount !== 0;
}

/** Returns the microcredits of the grant with that reference; 0 if it does not exist. */
export async function findGranted(db: Queryable, tenantId: string, reference: string): Promise<number> {
  const { rows } = await db.query<{ amount: string }>(
    'SELECT amount FROM credit_grants WHERE tenant_id = $1 AND reference = $2',
    [tenantId, reference],
  );
  return Number(rows[0]?.amount ?? 0);
}

/** Moves the expiry of a grant, and the account's next expiry with it. The account must be locked. */
export async function moveExpiryOfGrant(
  db: Queryable,
  tenantId: string,
  reference: string,
  expiresAt: Date,
): Promise<void> {
  await db.query('UPDATE credit_grants SET expires_at = $3 WHERE tenant_id = $1 AND reference = $2 AND remaining > 0', [
    tenantId,
    reference,
    expiresAt,
  ]);
  await db.query(
    `UPDATE credit_accounts SET next_expiry_at =
       (SELECT min(expires_at) FROM credit_grants WHERE tenant_id = $1 AND remaining > 0) WHERE tenant_id = $1`,
    [tenantId],
  );
}

/** Sets what happens to the workspace's runs when its credits are used up. */
export async function setWhenExhausted(
  db: Queryable,
  tenantId: string,
  whenExhausted: 'fail' | 'pause',
): Promise<void> {
  await db.query('UPDATE credit_accounts SET when_exhausted = $2 WHERE tenant_id = $1', [tenantId, whenExhausted]);
}
