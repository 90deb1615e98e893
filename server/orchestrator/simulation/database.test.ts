import pg from 'pg';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { newId } from '../../platform/ids.ts';
import { runProjection } from '../../testing/engine/projection.ts';
import { createTestDatabase, type TestDatabase } from '../../testing/postgres.ts';
import { commitStatement, type LogEntry } from '../log/index.ts';
import { Database, DatabaseError } from './database.ts';
import { Random } from './random.ts';

let db: TestDatabase;
let client: pg.Client;
beforeAll(async () => {
  db = await createTestDatabase();
  client = new pg.Client({ connectionString: db.url });
  await client.connect();
});
afterAll(async () => {
  await client.end();
  await db.close();
});

const AT = Date.UTC(2026, 0, 1);
const PROJECT = newId();
/** Less than the total of all charges. */
const FUNDS = 900;
const owner = { tenantId: 'acme', projectId: PROJECT, workflowId: PROJECT };

/** An entry that may or may not fit the log of its run: too early, too late, a second start, or progress alone. */
function randomEntry(random: Random, runId: string, length: number): LogEntry {
  const from = Math.max(1, length + 1 - (random.chance(0.2) ? random.below(3) : 0));
  const rows = Array.from({ length: random.below(3) + (from === 1 ? 1 : 0) }, (_, index) => ({
    seq: from + index,
    type: 'step_log' as const,
    step: 'a',
    attempt: 1,
    json: `{"lines":["${random.below(100)}"]}`,
    at: AT + random.below(1_000),
  }));
  const projection = runProjection({
    status: random.pick(['running', 'paused']),
    phase: random.pick(['executing', 'blocked']),
    stepsDone: random.below(5),
    pendingTasks: random.below(2),
    nextTimerAt: random.chance(0.5) ? AT + random.below(1_000) : null,
    lastSeq: from + rows.length - 1,
    credits: random.below(100),
  });
  const created = {
    ...owner,
    version: 1,
    sessionId: 's',
    triggerType: 't',
    startedBy: 'b',
    startedAt: AT,
    stepsTotal: 3,
  };
  const isNew = from === 1;
  const credits = random.chance(0.5) ? random.below(20) : 0;
  const used = {
    action: 'workflow_step',
    stepType: '',
    subject: '',
    outcome: 'completed',
    quantity: 1,
    at: AT,
  } as const;
  return {
    runId,
    rows,
    payloads: [],
    projection: isNew || rows.length === 0 || random.chance(0.8) ? projection : null,
    ...(isNew && { created }),
    tasks: [],
    owner,
    startedBy: '',
    usage: credits === 0 ? [] : [{ ...used, price: credits, line: ['a', 1, 1] }],
  };
}

async function tablesOf(runIds: readonly string[]) {
  const runs = await db.pool.query<{ id: string; status: string; orchestration_phase: string; last_seq: number }>(
    'SELECT id, status, orchestration_phase, steps_done, pending_tasks, next_timer_at, last_seq FROM runs WHERE id = ANY($1) ORDER BY id',
    [runIds],
  );
  const events = await db.pool.query<{ run_id: string; seq: number; data: unknown }>(
    'SELECT run_id, seq, data FROM run_events WHERE run_id = ANY($1) ORDER BY run_id, seq',
    [runIds],
  );
  const accounts = await db.pool.query<{ balance: number; consumed: number; waived: number }>(
    `SELECT greatest($1 - used, 0)::int AS balance, used::int AS consumed, greatest(used - $1, 0)::int AS waived
     FROM (SELECT coalesce(sum(microcredits), 0)::int AS used FROM run_usage WHERE tenant_id = 'acme') u`,
    [FUNDS],
  );
  return { runs: runs.rows, events: events.rows, account: accounts.rows[0] };
}

function simulatedTables(database: Database) {
  const { balance, consumed, waived } = database.account('acme');
  const stored = [...database.runs.values()].sort((a, b) => (a.row.id < b.row.id ? -1 : 1));
  return {
    account: { balance, consumed, waived },
    runs: stored.map(({ row }) => ({
      id: row.id,
      status: row.status,
      orchestration_phase: row.phase,
      steps_done: row.stepsDone,
      pending_tasks: row.pendingTasks,
      next_timer_at: row.nextTimerAt === null ? null : new Date(row.nextTimerAt),
      last_seq: row.lastSeq,
    })),
    events: stored.flatMap(({ row, events }) =>
      events.map(({ seq, json }) => ({ run_id: row.id, seq, data: JSON.parse(json) })),
    ),
  };
}

test('the simulated database accepts, refuses and stores the same as PostgreSQL', async () => {
  const random = new Random(1);
  const database = new Database();
  database.open('acme', FUNDS);
  const runIds = Array.from({ length: 6 }, newId);
  let refused = 0;
  for (let round = 0; round < 150; round++) {
    const batch = random
      .some(runIds, 0.4)
      .map(runId => randomEntry(random, runId, database.runs.get(runId)?.events.length ?? 0));
    if (batch.length === 0) continue;
    const real = await client.query(commitStatement(batch)).then(
      () => null,
      (error: unknown) => error,
    );
    let simulated: unknown = null;
    try {
      database.apply(batch, 'test');
    } catch (error) {
      simulated = error;
    }
    expect(simulated instanceof DatabaseError ? simulated.code : null).toBe(
      real instanceof pg.DatabaseError ? real.code : null,
    );
    if (real !== null) refused += 1;
  }
  expect(refused).toBeGreaterThan(10);
  expect(simulatedTables(database)).toEqual(await tablesOf(runIds));
});
