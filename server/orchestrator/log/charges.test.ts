import pg from 'pg';
import { afterAll, afterEach, beforeAll, beforeEach, expect, test } from 'vitest';
import { newId } from '../../platform/ids.ts';
import { createTestDatabase, type TestDatabase } from '../../testing/postgres.ts';
import type { LogEntry } from './entry.ts';
import { GroupCommitLog, type LogSession } from './group-commit.ts';
import { commitStatement } from './statement.ts';

const AT = Date.UTC(2026, 0, 1, 0, 10);
const WORKFLOW = newId();
let db: TestDatabase;
let client: pg.Client;
beforeAll(async () => {
  db = await createTestDatabase();
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

/** An entry with one event that costs `amount`. */
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
    ...more,
  };
}

const never = () => {
  throw new Error('the connection must not be given up');
};
/** The total usage of a workspace, which is its charge. */
const usedBy = async (tenantId: string): Promise<number> => {
  const { rows } = await db.pool.query(
    'SELECT coalesce(sum(microcredits), 0)::int AS used FROM run_usage WHERE tenant_id = $1',
    [tenantId],
  );
  return rows[0].used;
};

const session: LogSession = { commit: batch => client.query(commitStatement(batch)) };
const commit = (...batch: LogEntry[]) => client.query(commitStatement(batch));

// A few rows are passed as values, many as arrays.
test.each([1, 3, 9])('a batch charges each of %i workspaces its own sum', async count => {
  const tenants = Array.from({ length: count }, () => newId());
  await commit(...tenants.flatMap((tenant, index) => [entry(tenant, 10 + index), entry(tenant, 5), entry(tenant, 0)]));
  for (const [index, tenant] of tenants.entries()) expect(await usedBy(tenant)).toBe(15 + index);
});

test('a refused or fenced entry is not charged; the others of its batch are', async () => {
  const tenant = newId();
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
  expect(await usedBy(tenant)).toBe(31);
});

test('usage is one row for each combination of type, subject, outcome, person, price and quarter of an hour', async () => {
  const workflowId = newId();
  const owner = { tenantId: newId(), projectId: WORKFLOW, workflowId };
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
