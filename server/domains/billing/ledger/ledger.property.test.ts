import fc from 'fast-check';
import pg from 'pg';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { LEADER_LOCK } from '../../../orchestrator/cluster/locks.ts';
import { commitStatement } from '../../../orchestrator/log/index.ts';
import { newId } from '../../../platform/ids.ts';
import { type Queryable, transact } from '../../../platform/postgres/transaction.ts';
import { chargedRun } from '../../../testing/billing/ledger.ts';
import { createTestDatabase, type TestDatabase } from '../../../testing/postgres.ts';
import { auditLedger } from './audit-store.ts';
import { type Account, type Amounts, accounts, type SpendableAccount, spendable } from './books.ts';
import { countCharges, countNext } from './count-store.ts';
import { expireDue, grantCredits, postCharges, readBalances, refundCredits, reverseGrant } from './post.ts';
import { openAccount } from './store.ts';

/**
 * Runs concurrent operations on credits on a real database, and kills some sessions in the middle. A trigger numbers
 * the rows of the ledger while their account is locked, so the numbers are the order in which they happened. A model
 * then computes each expected row; it keeps every grant as a separate lot, and shares no code with the code under test.
 */
let db: TestDatabase;
beforeAll(async () => {
  db = await createTestDatabase();
  await db.pool.query(`
    CREATE TABLE ledger_order (n bigserial PRIMARY KEY, tenant_id text, id uuid);
    CREATE FUNCTION number_ledger_row() RETURNS trigger LANGUAGE plpgsql AS $$
      BEGIN INSERT INTO ledger_order (tenant_id, id) VALUES (NEW.tenant_id, NEW.id); RETURN NEW; END $$;
    CREATE TRIGGER number_ledger_rows AFTER INSERT ON credit_ledger FOR EACH ROW EXECUTE FUNCTION number_ledger_row();`);
});
afterAll(() => db.close());

const START = Date.UTC(2026, 0, 1);
const MINUTE = 60_000;

type Action =
  | { kind: 'grant'; account: SpendableAccount; amount: number; lasts: number | null; reference: number | null }
  | { kind: 'charge'; amounts: number[] }
  | { kind: 'expire' }
  | { kind: 'post' }
  | { kind: 'count' }
  | { kind: 'reverseGrant'; grant: number; most: number; reason: number }
  | { kind: 'refund'; amount: number; reference: number };
type Op = { tenant: 0 | 1; minute: number; action: Action; crash: 'none' | 'before' | 'at commit' };

const amount = fc.integer({ min: 1, max: 100 });
const action: fc.Arbitrary<Action> = fc.oneof(
  {
    weight: 3,
    arbitrary: fc.record({
      kind: fc.constant('grant' as const),
      account: fc.constantFrom(...spendable),
      amount,
      lasts: fc.option(fc.integer({ min: 0, max: 20 })),
      reference: fc.option(fc.integer({ min: 0, max: 4 })),
    }),
  },
  {
    weight: 5,
    arbitrary: fc.record({
      kind: fc.constant('charge' as const),
      amounts: fc.array(amount, { minLength: 1, maxLength: 3 }),
    }),
  },
  { weight: 3, arbitrary: fc.record({ kind: fc.constantFrom('expire' as const, 'post' as const, 'count' as const) }) },
  {
    weight: 1,
    arbitrary: fc.record({
      kind: fc.constant('reverseGrant' as const),
      grant: fc.integer({ min: 0, max: 4 }),
      most: amount,
      reason: fc.integer({ min: 0, max: 2 }),
    }),
  },
  {
    weight: 1,
    arbitrary: fc.record({ kind: fc.constant('refund' as const), amount, reference: fc.integer({ min: 0, max: 2 }) }),
  },
);
const op: fc.Arbitrary<Op> = fc.record({
  tenant: fc.constantFrom(0 as const, 1 as const),
  minute: fc.integer({ min: 0, max: 30 }),
  action,
  crash: fc.oneof(
    { weight: 8, arbitrary: fc.constant('none' as const) },
    { weight: 1, arbitrary: fc.constantFrom('before' as const, 'at commit' as const) },
  ),
});

type World = {
  tenants: [string, string];
  charged: { tenantId: string; amount: number; runId: string; acknowledged: boolean }[];
};

/** Performs the operation in the caller's transaction. Only a refund of more than was charged may be refused. */
async function perform(client: Queryable, { tenants, charged }: World, { tenant, minute, action: asked }: Op) {
  const tenantId = tenants[tenant];
  const at = START + minute * MINUTE;
  switch (asked.kind) {
    case 'grant':
      return grantCredits(client, {
        tenantId,
        account: asked.account,
        amount: asked.amount,
        expiresAt: asked.lasts === null ? null : at + asked.lasts * MINUTE,
        source: 'operator',
        reference: asked.reference === null ? null : `grant:${asked.reference}`,
        note: '',
        at,
      });
    case 'charge': {
      // Charges both workspaces in one commit, like the group commit.
      const runs = [chargedRun(tenantId, asked.amounts, at), chargedRun(tenants[tenant === 0 ? 1 : 0], [1], at)];
      // Takes the leader's lock, which only one session holds.
      await client.query('SELECT pg_advisory_xact_lock($1)', [LEADER_LOCK]);
      for (const run of runs)
        charged.push({
          tenantId: run.owner.tenantId,
          amount: run.projection?.credits ?? 0,
          runId: run.runId,
          acknowledged: false,
        });
      await client.query(commitStatement(runs));
      return runs.map(run => run.runId);
    }
    case 'expire':
      return expireDue(client, tenantId, at);
    case 'post':
      return postCharges(client, tenantId, at);
    case 'count':
      return countNext(client, at, { batchRows: 2, horizon: Number.MAX_SAFE_INTEGER });
    case 'reverseGrant':
      return reverseGrant(client, {
        tenantId,
        reference: `grant:${asked.grant}`,
        amount: asked.most,
        kindReference: `back:${asked.reason}`,
        note: `grant:${asked.grant} ${asked.most}`,
        at,
      });
    case 'refund':
      return refundCredits(client, {
        tenantId,
        amount: asked.amount,
        reference: `refund:${asked.reference}`,
        note: '',
        at,
      });
  }
}

/** Runs an operation in a separate session: some are killed before they commit, some while they do. */
async function run(world: World, one: Op): Promise<void> {
  const client = new pg.Client({ connectionString: db.url });
  client.on('error', () => undefined);
  await client.connect();
  const { rows } = await client.query<{ pid: number }>('SELECT pg_backend_pid() AS pid');
  const kill = () => db.pool.query('SELECT pg_terminate_backend($1)', [rows[0]?.pid]);
  try {
    await client.query('BEGIN');
    const done = await perform(client, world, one);
    if (one.crash === 'before') await kill();
    const killed = one.crash === 'at commit' ? kill() : undefined;
    const committed = await client.query('COMMIT').then(
      () => true,
      () => false,
    );
    await killed;
    expect(committed || one.crash !== 'none').toBe(true);
    if (!committed || one.action.kind !== 'charge' || !Array.isArray(done)) return;
    for (const charge of world.charged) if (done.includes(charge.runId)) charge.acknowledged = true;
  } catch (error) {
    expect(error).toMatchObject({ code: 'refund_exceeds_charges' });
    await client.query('ROLLBACK');
  } finally {
    await client.end().catch(() => undefined);
  }
}

type Lot = { id: string; reference: string; account: SpendableAccount; left: number; expiresAt: number; made: number };
type LedgerRow = Amounts & {
  kind: string;
  reference: string;
  note: string;
  at: number;
};

const sum = (lots: readonly Lot[]) => lots.reduce((total, lot) => total + lot.left, 0);

/** The model: keeps grants as lots, and expects each row of the ledger, in order, to match the lots. */
class Model {
  lots: Lot[] = [];
  consumed = 0;
  readonly #grants: ReadonlyMap<string, Lot & { amount: number }>;

  constructor(grants: ReadonlyMap<string, Lot & { amount: number }>) {
    this.#grants = grants;
  }

  of = (account: SpendableAccount) =>
    this.lots
      .filter(lot => lot.account === account && lot.left > 0)
      .sort((a, b) => a.expiresAt - b.expiresAt || (a.id < b.id ? -1 : 1));

  follow(row: LedgerRow): void {
    const before = Object.fromEntries(spendable.map(account => [account, sum(this.of(account))]));
    this.#apply(row);
    for (const account of spendable) expect(row[account]).toBe(sum(this.of(account)) - (before[account] ?? 0));
    this.consumed += row.consumed;
    expect(this.consumed).toBeGreaterThanOrEqual(0);
  }

  #apply(row: LedgerRow): void {
    switch (row.kind) {
      case 'charge':
        this.#charge(row.consumed);
        return;
      case 'grant':
      case 'refund': {
        const lot = this.#grants.get(`${row.kind} ${row.reference}`);
        if (lot === undefined) throw new Error(`no grant ${row.reference}`);
        expect(this.lots.filter(other => other.left > 0 && other.expiresAt <= row.at)).toEqual([]);
        this.lots.push({ ...lot, left: lot.amount });
        return;
      }
      case 'expiry': {
        const [due] = this.lots.filter(lot => lot.left > 0).sort((a, b) => a.expiresAt - b.expiresAt);
        const lot = this.lots.find(({ id }) => id === row.reference);
        expect(lot?.expiresAt).toBe(due?.expiresAt); // in time order
        expect(lot?.expiresAt).toBeLessThanOrEqual(row.at);
        expect(row.expired).toBe(lot?.left);
        if (lot !== undefined) lot.left = 0;
        return;
      }
      case 'reversal': {
        const [reference = '', most = '0'] = row.note.split(' ');
        const lot = this.lots.find(other => other.reference === reference);
        if (lot !== undefined) lot.left -= Math.min(lot.left, Number(most));
        return;
      }
      default:
        throw new Error(row.kind);
    }
  }

  #charge(amount: number): void {
    let rest = amount;
    for (const lot of spendable.flatMap(this.of)) {
      const part = Math.min(rest, lot.left);
      lot.left -= part;
      rest -= part;
    }
  }
}

async function readLedger(tenantId: string): Promise<LedgerRow[]> {
  const { rows } = await db.pool.query(
    `SELECT l.* FROM credit_entries l JOIN ledger_order o ON o.tenant_id = l.tenant_id AND o.id = l.id
     WHERE l.tenant_id = $1 ORDER BY o.n`,
    [tenantId],
  );
  return rows.map(row => ({
    ...amountsOf(row),
    kind: row.kind,
    reference: row.reference,
    note: row.note,
    at: row.created_at.getTime(),
  }));
}

const amountsOf = (row: Record<Account, string>): Amounts => ({
  trial: Number(row.trial),
  included: Number(row.included),
  payg: Number(row.payg),
  consumed: Number(row.consumed),
  expired: Number(row.expired),
  granted: Number(row.granted),
});

async function readLots(tenantId: string): Promise<Map<string, Lot & { amount: number; remaining: number }>> {
  const { rows } = await db.pool.query('SELECT * FROM credit_grants WHERE tenant_id = $1', [tenantId]);
  return new Map(
    rows.map(row => [
      `${row.source === 'refund' ? 'refund' : 'grant'} ${row.reference}`,
      {
        id: row.id,
        reference: row.reference,
        account: row.account,
        amount: Number(row.amount),
        remaining: Number(row.remaining),
        left: 0,
        expiresAt: row.expires_at?.getTime() ?? Number.POSITIVE_INFINITY,
        made: row.created_at.getTime(),
      },
    ]),
  );
}

/** Checks that every acknowledged operation happened once, and that nothing else did except operations killed at their commit. */
async function checkTenant(world: World, tenantId: string): Promise<void> {
  const balances = await readBalances(db.pool, tenantId);
  await transact(db.pool, client => postCharges(client, tenantId, START));
  const posted = await readBalances(db.pool, tenantId);
  while ((await countCharges(db.pool, START, 3)) !== 'done');
  const counted = await readBalances(db.pool, tenantId);
  for (const account of accounts) {
    expect(posted[account]).toBe(balances[account]);
    expect(counted[account]).toBe(balances[account]);
  }
  const ledger = await readLedger(tenantId);
  const model = new Model(await readLots(tenantId));
  for (const row of ledger) {
    expect(accounts.reduce((total, account) => total + row[account], 0)).toBe(0);
    model.follow(row);
  }
  for (const account of spendable) expect(balances[account]).toBe(sum(model.of(account)));
  const { rows } = await db.pool.query<{ id: string }>('SELECT id FROM runs WHERE tenant_id = $1', [tenantId]);
  const there = new Set(rows.map(({ id }) => id));
  const mine = world.charged.filter(each => each.tenantId === tenantId);
  for (const { runId, acknowledged } of mine) expect(there.has(runId) || !acknowledged).toBe(true);
  const charged = ledger.filter(({ kind }) => kind === 'charge').reduce((total, row) => total + row.consumed, 0);
  expect(charged).toBe(mine.filter(({ runId }) => there.has(runId)).reduce((total, each) => total + each.amount, 0));
  // The remainder of each grant is stored with every entry.
  const lots = await readLots(tenantId);
  for (const { id, left } of model.lots) expect([...lots.values()].find(lot => lot.id === id)?.remaining).toBe(left);
}

const differences = async (tenantId: string) => (await auditLedger(db.pool, { tenantId, now: START })).differences;

/** Performs four operations at a time, which wait for each other only at the lock; then checks the books. */
async function performAtOnce(world: World, ops: readonly Op[]): Promise<void> {
  for (const tenantId of world.tenants) await openAccount(db.pool, tenantId, START);
  const waiting = [...ops];
  const lane = async () => {
    for (let next = waiting.shift(); next !== undefined; next = waiting.shift()) await run(world, next);
  };
  await Promise.all([lane(), lane(), lane(), lane()]);
  for (const tenantId of world.tenants) {
    // Checked once while some charges are not posted, and once after all are.
    expect(await differences(tenantId)).toEqual([]);
    await checkTenant(world, tenantId);
    expect(await differences(tenantId)).toEqual([]);
  }
}

const settings = { numRuns: 20, endOnFailure: true } as const;

test('the books after concurrent operations equal those of a model that applies them one by one', {
  timeout: 300_000,
}, async () => {
  await fc.assert(
    fc.asyncProperty(fc.array(op, { minLength: 5, maxLength: 40 }), async ops => {
      await performAtOnce({ tenants: [newId(), newId()], charged: [] }, ops);
    }),
    settings,
  );
});
