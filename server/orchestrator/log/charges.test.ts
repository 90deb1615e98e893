import pg from 'pg';
import { afterAll, afterEach, beforeAll, beforeEach, expect, test } from 'vitest';
import { newId } from '../../platform/ids.ts';
import { createTestDatabase, type TestDatabase } from '../../platform/postgres/testing.ts';
import { TestCredits } from '../executors/embedded/testing-credits.ts';
import type { LogEntry } from './entry.ts';
import { GroupCommitLog, type LogSession } from './group-commit.ts';
import { commitStatement } from './statement.ts';

const PATIENT = { timeout: 15_000 };
const AT = Date.UTC(2026, 0, 1, 0, 10);
const WORKFLOW = newId();
let db: TestDatabase;
let client: pg.Client;
let credits: TestCredits;
beforeAll(async () => {
  db = await createTestDatabase();
  credits = new TestCredits(db.pool);
});
afterAll(() => db.close());
beforeEach(async () => {
  client = new pg.Client({ connectionString: db.url, pipeline: true });
  client.on('error', () => undefined);
  await client.connect();
});
afterEach(() => client.end());

const usageRow = (more: Partial<LogEntry['usage'][number]> = {}): LogEntry['usage'][number] => ({
  action: 'workflow_step',
  stepType: 'lua_script',
  subject: '',
  outcome: 'completed',
  quantity: 1,
  price: 100,
  line: ['a', 1, 1],
  at: AT,
  ...more,
});

/** One event that costs `amount`. */
function entry(tenantId: string, amount: number, more: Partial<LogEntry> = {}): LogEntry {
  return {
    runId: newId(),
    rows: [{ seq: 1, type: 'step_completed', step: 'a', attempt: 1, json: '{"result":null}', at: AT }],
    payloads: [],
    projection: null,
    tasks: [],
    owner: { tenantId, projectId: WORKFLOW, workflowId: WORKFLOW },
    startedBy: 'ann',
    usage: [usageRow({ price: amount })],
    credits: amount,
    ...more,
  };
}

const never = () => {
  throw new Error('the connection must not be given up');
};
const eventsOf = async (runId: string) =>
  (await db.pool.query('SELECT seq FROM run_events WHERE run_id = $1', [runId])).rowCount;
/** Every account was charged what the usage of its workspace says. */
const chargesAreUsage = async () => {
  const { rows } = await db.pool.query(
    `SELECT a.tenant_id FROM credit_accounts a
     LEFT JOIN (SELECT tenant_id, sum(microcredits) AS used FROM run_usage GROUP BY tenant_id) u USING (tenant_id)
     WHERE a.charged <> coalesce(u.used, 0)`,
  );
  expect(rows).toEqual([]);
};

const session: LogSession = { commit: batch => client.query(commitStatement(batch)) };
const commit = (...batch: LogEntry[]) => client.query(commitStatement(batch));

// One, a few and many workspaces are three statements.
test.each([1, 3, 9])('a batch takes from each of %i workspaces its own sum', async count => {
  const tenants = Array.from({ length: count }, () => newId());
  for (const tenant of tenants) await credits.grant(tenant, 'payg', 1_000);
  const free = entry(newId(), 0);
  const batch = tenants.flatMap((tenant, index) => [entry(tenant, 10 + index), entry(tenant, 5), entry(tenant, 0)]);
  await commit(...batch, free);
  for (const [index, tenant] of tenants.entries())
    expect(await credits.read(tenant)).toMatchObject({ balance: 985 - index, consumed: 15 + index });
  // Usage that costs nothing is kept of anybody.
  const { rowCount } = await db.pool.query('SELECT FROM run_usage WHERE tenant_id = $1', [free.owner.tenantId]);
  expect(rowCount).toBe(1);
  await chargesAreUsage();
});

test('a charge that waits for the row is added to what it then holds', async () => {
  const tenant = newId();
  await credits.grant(tenant, 'trial', 1_000);
  const other = await db.pool.connect();
  await other.query('BEGIN');
  await other.query(
    `UPDATE credit_accounts SET included = included + 500, charged = charged + 30, posted = posted + 30 WHERE tenant_id = $1`,
    [tenant],
  );
  const charge = commit(entry(tenant, 100));
  const blocked = `SELECT count(*)::int AS n FROM pg_stat_activity WHERE datname = current_database() AND wait_event_type = 'Lock'`;
  await expect.poll(async () => (await db.pool.query(blocked)).rows[0].n, PATIENT).toBe(1);
  await other.query('COMMIT');
  other.release();
  await charge;
  const { rows } = await db.pool.query(
    'SELECT trial::int, included::int, charged::int, posted::int FROM credit_accounts WHERE tenant_id = $1',
    [tenant],
  );
  expect(rows).toEqual([{ trial: 1_000, included: 500, charged: 130, posted: 30 }]);
});

test('charges and grants at once are each there once', async () => {
  const tenants = [newId(), newId(), newId()];
  for (const tenant of tenants) await credits.grant(tenant, 'trial', 10_000);
  const log = new GroupCommitLog(session, never);
  const appends = Array.from({ length: 300 }, (_, n) => log.append(entry(tenants[n % 3] ?? '', 1 + (n % 7))));
  const grants = Array.from({ length: 60 }, (_, n) =>
    credits.grant(tenants[n % 3] ?? '', n % 2 === 0 ? 'payg' : 'included', 3),
  );
  await Promise.all([...appends, ...grants]);
  const charged = tenants.map((_, t) =>
    Array.from({ length: 300 }, (_, n) => (n % 3 === t ? 1 + (n % 7) : 0)).reduce((a, b) => a + b),
  );
  for (const [t, tenant] of tenants.entries())
    expect(await credits.read(tenant)).toMatchObject({
      consumed: charged[t],
      balance: 10_060 - (charged[t] ?? 0),
    });
});

test('the charge of an entry that is refused, or fenced, is not applied; those beside it are', async () => {
  const tenant = newId();
  await credits.grant(tenant, 'payg', 1_000);
  const log = new GroupCommitLog(session, never);
  const taken = entry(tenant, 7);
  await log.append(taken);
  const good = [entry(tenant, 11), entry(tenant, 13)];
  const bad = entry(tenant, 17, {
    rows: [{ seq: 1, type: 'step_completed', step: 'a', attempt: 1, json: '{', at: AT }],
  });
  const fenced = entry(tenant, 19, { runId: taken.runId });
  const appended = await Promise.allSettled([...good, bad, fenced].map(each => log.append(each)));
  expect(appended.map(({ status }) => status)).toEqual(['fulfilled', 'fulfilled', 'rejected', 'rejected']);
  expect(await credits.read(tenant)).toMatchObject({ consumed: 31, balance: 969 });
});

test.each([0, 1, 2, 6])('nothing is written for a workspace that has no account, beside %i that have', async others => {
  const tenants = Array.from({ length: others }, () => newId());
  for (const tenant of tenants) await credits.grant(tenant, 'payg', 100);
  const log = new GroupCommitLog(session, never);
  const missing = entry(newId(), 5);
  const entries = tenants.map(tenant => entry(tenant, 5));
  const [refused, ...good] = await Promise.allSettled([missing, ...entries].map(each => log.append(each)));
  expect(refused).toMatchObject({ status: 'rejected', reason: { kind: 'rejected' } });
  expect(good.every(({ status }) => status === 'fulfilled')).toBe(true);
  expect(await eventsOf(missing.runId)).toBe(0);
  for (const { runId } of entries) expect(await eventsOf(runId)).toBe(1);
});

test('a charge beyond what an account can hold is refused, whole', async () => {
  const tenant = newId();
  await credits.grant(tenant, 'payg', 1_000);
  const tooMuch = entry(tenant, Number.MAX_SAFE_INTEGER);
  await commit(entry(tenant, 1_000));
  await expect(commit(tooMuch)).rejects.toMatchObject({ code: '23514' });
  expect(await eventsOf(tooMuch.runId)).toBe(0);
});

test('usage is one row for each kind of it: type, subject, outcome, person, price and quarter of an hour', async () => {
  const workflowId = newId();
  const owner = { tenantId: newId(), projectId: WORKFLOW, workflowId };
  await credits.grant(owner.tenantId, 'payg', 100_000);
  const usage = [
    usageRow(),
    usageRow({ line: ['b', 1, 1] }),
    usageRow({ stepType: 'llm_call', outcome: 'retried' }),
    usageRow({
      stepType: 'llm_call',
      action: 'llm_input_tokens',
      subject: 'a/b',
      outcome: '',
      quantity: 7,
      price: 2,
    }),
    usageRow({
      stepType: 'llm_call',
      action: 'llm_input_tokens',
      subject: 'a/c',
      outcome: '',
      quantity: 7,
      price: 2,
    }),
    usageRow({ price: 90 }),
    usageRow({ at: AT + 5 * 60_000 }),
    usageRow({ action: 'run_started', stepType: '', subject: 'api', outcome: '', price: 0, line: [] }),
    usageRow({ action: 'run_ended', stepType: '', outcome: 'failed', price: 0, line: [1234] }),
  ];
  const runs = [
    entry('', 518, { owner, usage }),
    entry('', 100, { owner, usage: [usageRow()], startedBy: 'bob' }),
    entry('', 100, { owner, usage: [usageRow()] }),
  ];
  await commit(...runs);
  const { rows } = await db.pool.query(
    `SELECT action, step_type, subject, outcome, started_by, quantity::int, microcredits::int, attempts, created_at
   FROM run_usage WHERE workflow_id = $1 ORDER BY seq`,
    [workflowId],
  );
  const [first, bobs, second] = runs.map(({ runId }) => runId);
  const shown = rows.map(row => [
    row.action,
    row.step_type,
    row.subject,
    row.outcome,
    row.started_by,
    row.quantity,
    row.microcredits,
  ]);
  expect(shown).toEqual([
    ['workflow_step', 'lua_script', '', 'completed', 'ann', 3, 300],
    ['workflow_step', 'llm_call', '', 'retried', 'ann', 1, 100],
    ['llm_input_tokens', 'llm_call', 'a/b', '', 'ann', 7, 14],
    ['llm_input_tokens', 'llm_call', 'a/c', '', 'ann', 7, 14],
    ['workflow_step', 'lua_script', '', 'completed', 'ann', 1, 90],
    ['workflow_step', 'lua_script', '', 'completed', 'ann', 1, 100],
    ['run_started', '', 'api', '', 'ann', 1, 0],
    ['run_ended', '', '', 'failed', 'ann', 1, 0],
    ['workflow_step', 'lua_script', '', 'completed', 'bob', 1, 100],
  ]);
  expect(rows[0]?.attempts).toEqual([
    [first, 'a', 1, 1],
    [first, 'b', 1, 1],
    [second, 'a', 1, 1],
  ]);
  expect(rows[6]?.attempts).toEqual([[first]]);
  expect(rows[7]?.attempts).toEqual([[first, 1234]]);
  expect(rows[8]?.attempts).toEqual([[bobs, 'a', 1, 1]]);
});
