import pg from 'pg';
import { afterAll, afterEach, beforeAll, beforeEach, expect, test } from 'vitest';
import { newId } from '../../platform/ids.ts';
import { runProjection } from '../../testing/engine/projection.ts';
import { createTestDatabase, type TestDatabase } from '../../testing/postgres.ts';
import type { RunEvent } from '../core/index.ts';
import { encodeEvent } from './encode.ts';
import type { LogEntry } from './entry.ts';
import { AppendError, GroupCommitLog, type LogSession } from './group-commit.ts';
import { commitStatement } from './statement.ts';

let db: TestDatabase;
let clients: pg.Client[];
beforeAll(async () => {
  db = await createTestDatabase();
});
afterAll(() => db.close());
beforeEach(async () => {
  clients = await Promise.all(
    ['a', 'b'].map(async () => {
      const client = new pg.Client({ connectionString: db.url, pipeline: true });
      await client.connect();
      // PostgreSQL checks for deadlocks after this time.
      await client.query("SET deadlock_timeout = '10ms'");
      return client;
    }),
  );
});
afterEach(() => Promise.all(clients.map(client => client.end())));

const AT = Date.UTC(2026, 0, 1);
const PROJECT = newId();
const STARTED: RunEvent = {
  at: AT,
  type: 'run_started',
  data: {
    version: 1,
    input: {},
    mode: 'normal',
    trigger_type: 'api',
    trigger_steps: {},
    seed_results: {},
    session_id: 's',
    started_by: 'tester',
  },
};

function start(tenantId: string, runId: string): LogEntry {
  const payloads: LogEntry['payloads'][number][] = [];
  const owner = { tenantId, projectId: PROJECT, workflowId: PROJECT };
  const run = { version: 1, sessionId: runId, triggerType: 'api', startedBy: 'tester', startedAt: AT, stepsTotal: 1 };
  return {
    runId,
    rows: [encodeEvent(STARTED, 1, payloads)],
    payloads,
    projection: runProjection({ lastSeq: 1 }),
    created: { ...owner, ...run },
    tasks: [],
    owner,
    startedBy: '',
    usage: [],
  };
}

/**
 * Lets both writers meet: holds up the run in the middle of their orders until each of them waits, with half of the runs
 * inserted.
 */
async function meeting(middle: string): Promise<() => Promise<void>> {
  const client = await db.pool.connect();
  await client.query('BEGIN');
  await client.query(commitStatement([start('in-the-way', middle)]));
  const waiting = 'SELECT DISTINCT pid FROM pg_locks WHERE NOT granted AND pid = ANY($1)';
  const pids = await Promise.all(clients.map(async each => (await each.query('SELECT pg_backend_pid()')).rows[0]));
  return async () => {
    await expect
      .poll(async () => (await db.pool.query(waiting, [pids.map(row => row.pg_backend_pid)])).rowCount, {
        timeout: 30_000,
      })
      .toBe(2);
    await client.query('ROLLBACK');
    client.release();
  };
}

/**
 * Lets two tenants start the same runs on two sessions in opposite orders, for some rounds. Returns the number of deadlocks.
 */
async function writeConcurrently(
  rounds: number,
  arrange: (batch: readonly LogEntry[], writer: number) => readonly LogEntry[],
) {
  let deadlocks = 0;
  const logs = clients.map((client, writer) => {
    const session: LogSession = {
      commit: batch =>
        client.query(commitStatement(arrange(batch, writer))).catch(error => {
          if (error.code === '40P01') deadlocks += 1;
          throw error;
        }),
    };
    return new GroupCommitLog(session, cause => expect.fail(`the session is lost: ${cause}`));
  });
  for (let round = 0; round < rounds; round++) {
    const ids = Array.from({ length: 60 }, newId);
    const met = await meeting(ids.toSorted()[30] ?? '');
    const [results] = await Promise.all([
      Promise.all(
        logs.map((log, writer) => {
          const order = writer === 0 ? ids : ids.toReversed();
          return Promise.allSettled(order.map(id => log.append(start(`tenant-${writer}`, id)).then(() => id)));
        }),
      ),
      met(),
    ]);
    const won = results.flat().flatMap(result => (result.status === 'fulfilled' ? [result.value] : []));
    const lost = results.flat().flatMap(result => (result.status === 'rejected' ? [result.reason] : []));
    // Each id is the run of exactly one of the two, and the other one gets the error that it is taken.
    expect(won.sort()).toEqual([...ids].sort());
    expect(lost.map(error => error instanceof AppendError && error.kind)).toEqual(ids.map(() => 'fenced'));
    const { rows } = await db.pool.query('SELECT count(*)::int AS n FROM runs WHERE id = ANY($1)', [ids]);
    expect(rows).toEqual([{ n: 60 }]);
  }
  return deadlocks;
}

test('two tenants that start the same runs in opposite orders on two sessions never deadlock', async () => {
  expect(await writeConcurrently(5, batch => batch)).toBe(0);
});

test('a deadlock costs nobody the session: the batch is halved and written again', async () => {
  let deadlocks = 0;
  while (deadlocks === 0)
    deadlocks = await writeConcurrently(1, (batch, writer) => (writer === 0 ? batch : batch.toReversed()));
});
