import { afterAll, beforeAll, beforeEach, expect, test } from 'vitest';
import { MAX_MICROCREDITS } from '../../../orchestrator/ports/microcredits.ts';
import { newId } from '../../../platform/ids.ts';
import { transact } from '../../../platform/postgres/transaction.ts';
import { insertUsage } from '../../../testing/analytics.ts';
import { charge } from '../../../testing/billing/ledger.ts';
import { whileHeld } from '../../../testing/held-numbers.ts';
import { createTestDatabase, type TestDatabase } from '../../../testing/postgres.ts';
import { countCharges, countNext, readUncounted } from './count-store.ts';
import { grantCredits, postCharges, readBalances } from './post.ts';
import { openAccount } from './store.ts';

const AT = Date.UTC(2026, 0, 1);
let db: TestDatabase;
let tenantId: string;
beforeAll(async () => {
  db = await createTestDatabase();
});
afterAll(() => db.close());
beforeEach(async () => {
  while ((await countCharges(db.pool, AT)) !== 'done');
  tenantId = newId();
  await openAccount(db.pool, tenantId, AT);
});

const accountOf = async (tenant: string) => {
  const { rows } = await db.pool.query<{ charged: number; posted: number }>(
    'SELECT charged::float8, posted::float8 FROM credit_accounts WHERE tenant_id = $1',
    [tenant],
  );
  return rows[0];
};
const grant = (amount: number) =>
  transact(db.pool, client =>
    grantCredits(client, {
      ...{ tenantId, account: 'payg', amount, expiresAt: null, source: 'operator', reference: null, note: '', at: AT },
    }),
  );

test('charges are in the balance immediately, and are counted in batches, each once', async () => {
  const other = newId();
  await grant(1_000);
  for (let n = 1; n <= 5; n++) {
    await charge(db.pool, tenantId, n, AT);
    await charge(db.pool, other, 10 * n, AT);
  }
  expect(await readBalances(db.pool, tenantId)).toMatchObject({ payg: 985, consumed: 15 });
  expect(await accountOf(tenantId)).toEqual({ charged: 0, posted: 0 });
  expect(await countCharges(db.pool, AT, 4)).toBe('counted');
  expect(await accountOf(tenantId)).toEqual({ charged: 3, posted: 0 });
  expect(await readBalances(db.pool, tenantId)).toMatchObject({ payg: 985, consumed: 15 });
  while ((await countCharges(db.pool, AT, 4)) === 'counted');
  expect(await accountOf(tenantId)).toEqual({ charged: 15, posted: 0 });
  // The workspace had no account; it now has an empty one.
  expect(await accountOf(other)).toEqual({ charged: 150, posted: 0 });
  expect(await readBalances(db.pool, other)).toMatchObject({ payg: 0, consumed: 150, granted: -150 });
  expect(await countCharges(db.pool, AT)).toBe('done');
});

test('usage that a grant has counted is not counted again, and later usage is', async () => {
  await charge(db.pool, tenantId, 7, AT);
  await grant(100);
  expect(await accountOf(tenantId)).toEqual({ charged: 7, posted: 7 });
  await charge(db.pool, tenantId, 5, AT);
  expect(await countCharges(db.pool, AT)).toBe('counted');
  expect(await accountOf(tenantId)).toEqual({ charged: 12, posted: 7 });
  expect(await readBalances(db.pool, tenantId)).toMatchObject({ payg: 95, consumed: 12, granted: -107 });
});

test('uncounted usage is read for several workspaces, each from its own number', async () => {
  const other = newId();
  await openAccount(db.pool, other, AT);
  await charge(db.pool, tenantId, 7, AT);
  await charge(db.pool, other, 1, AT);
  await grant(100);
  await charge(db.pool, tenantId, 5, AT);
  const { rows } = await db.pool.query<{ tenant_id: string; counted: string }>(
    'SELECT tenant_id, counted FROM credit_accounts WHERE tenant_id = ANY($1)',
    [[tenantId, other]],
  );
  const counted = rows.map(row => ({ tenantId: row.tenant_id, counted: Number(row.counted) }));
  const uncounted = await readUncounted(db.pool as never, counted);
  expect([tenantId, other].map(each => uncounted.get(each)?.microcredits)).toEqual([5, 1]);
  expect((await readUncounted(db.pool as never, [])).size).toBe(0);
});

test('a grant that commits while the count waits for its account is neither lost nor counted twice', async () => {
  await charge(db.pool, tenantId, 7, AT);
  const client = await db.pool.connect();
  await client.query('BEGIN');
  await grantCredits(client, {
    ...{
      tenantId,
      account: 'payg',
      amount: 50,
      expiresAt: null,
      source: 'operator',
      reference: null,
      note: '',
      at: AT,
    },
  });
  const counting = countCharges(db.pool, AT);
  const blocked = `SELECT FROM pg_stat_activity WHERE datname = current_database() AND wait_event_type = 'Lock'`;
  await expect.poll(async () => (await db.pool.query(blocked)).rowCount).toBe(1);
  // A second count returns at once meanwhile, and the engine continues to charge.
  expect(await countCharges(db.pool, AT)).toBe('busy');
  await charge(db.pool, tenantId, 3, AT);
  await client.query('COMMIT');
  client.release();
  expect(await counting).toBe('counted');
  while ((await countCharges(db.pool, AT)) === 'counted');
  expect(await accountOf(tenantId)).toEqual({ charged: 10, posted: 7 });
  expect(await readBalances(db.pool, tenantId)).toMatchObject({ payg: 47, consumed: 10, granted: -57 });
});

test('charges whose numbers are held while later ones are counted are still counted once', async () => {
  const other = newId();
  await whileHeld(
    db.pool,
    client => charge(client, tenantId, 7, AT),
    async () => {
      await charge(db.pool, other, 5, AT);
      while ((await countCharges(db.pool, AT)) === 'counted');
    },
  );
  while ((await countCharges(db.pool, AT)) === 'counted');
  expect(await accountOf(tenantId)).toEqual({ charged: 7, posted: 0 });
  expect(await accountOf(other)).toEqual({ charged: 5, posted: 0 });
});

test('a count that is rolled back has no effect', async () => {
  await charge(db.pool, tenantId, 9, AT);
  const failed = transact(db.pool, async client => {
    expect(await countNext(client, AT, { batchRows: 10, horizon: Number.MAX_SAFE_INTEGER })).toBe('counted');
    throw new Error('the process ends');
  });
  await expect(failed).rejects.toThrow('the process ends');
  expect(await accountOf(tenantId)).toEqual({ charged: 0, posted: 0 });
  await countCharges(db.pool, AT);
  expect(await accountOf(tenantId)).toEqual({ charged: 9, posted: 0 });
});

test('starts and ends of runs, which other sessions may write, do not advance the number; free usage does', async () => {
  const progress = async () => (await db.pool.query('SELECT seq FROM credit_progress')).rows[0].seq;
  const before = await progress();
  const row = { tenantId, projectId: newId(), workflowId: newId(), at: AT };
  await insertUsage(db.pool, [{ ...row, action: 'run_started' }]);
  expect(await countCharges(db.pool, AT)).toBe('done');
  expect(await progress()).toBe(before);
  await insertUsage(db.pool, [{ ...row, action: 'workflow_step' }]);
  await insertUsage(db.pool, [{ ...row, action: 'run_ended' }]);
  expect(await countCharges(db.pool, AT)).toBe('counted');
  expect(Number(await progress())).toBe(Number(before) + 2);
  expect(await accountOf(tenantId)).toEqual({ charged: 0, posted: 0 });
});

test('a full account stays full, and blocks no other', async () => {
  const other = newId();
  const row = { tenantId, projectId: newId(), workflowId: newId(), at: AT, action: 'workflow_step' as const };
  for (let n = 0; n < 3; n++)
    await insertUsage(db.pool, [
      { ...row, microcredits: MAX_MICROCREDITS - 1 },
      { ...row, tenantId: other, microcredits: 4 },
    ]);
  expect(await readBalances(db.pool, tenantId)).toMatchObject({ consumed: MAX_MICROCREDITS, payg: 0 });
  await transact(db.pool, client => postCharges(client, tenantId, AT));
  expect(await accountOf(tenantId)).toEqual({ charged: MAX_MICROCREDITS, posted: MAX_MICROCREDITS });
  await insertUsage(db.pool, [{ ...row, microcredits: 1 }]);
  while ((await countCharges(db.pool, AT)) === 'counted');
  expect(await accountOf(tenantId)).toEqual({ charged: MAX_MICROCREDITS, posted: MAX_MICROCREDITS });
  expect(await accountOf(other)).toEqual({ charged: 12, posted: 0 });
});

test('uncounted usage is found by its numbers, regardless of the amount of usage', async () => {
  await db.pool.query(
    `INSERT INTO run_usage (id, tenant_id, project_id, workflow_id, action, quantity, microcredits, attempts, created_at)
     SELECT gen_random_uuid(), $1, gen_random_uuid(), gen_random_uuid(), 'workflow_step', 1, 1, '[]', to_timestamp($2::float8 / 1000)
     FROM generate_series(1, 20000)`,
    [tenantId, AT],
  );
  await db.pool.query('ANALYZE run_usage');
  while ((await countCharges(db.pool, AT)) === 'counted');
  for (let n = 0; n < 3; n++) await charge(db.pool, tenantId, 5, AT);
  const { rows } = await db.pool.query('SELECT seq::int FROM credit_progress');
  const asked: [string, unknown[]][] = [];
  const found = await readUncounted(
    {
      query: (text: string, values: unknown[]) => {
        asked.push([text, values]);
        return db.pool.query(text, values);
      },
    } as never,
    [{ tenantId, counted: rows[0].seq }],
  );
  expect(found.get(tenantId)?.microcredits).toBe(15);
  const [text, values] = asked[0] ?? ['', []];
  const plan = await db.pool.query(`EXPLAIN (ANALYZE, TIMING OFF) ${text}`, values);
  const lines = plan.rows.map(row => row['QUERY PLAN']).join('\n');
  expect(lines).toContain('seq_idx');
  expect(lines).not.toMatch(/Rows Removed by Filter: \d{3,}/);
});
