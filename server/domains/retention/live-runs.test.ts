import pg from 'pg';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { commitStatement, encodeEvent, GroupCommitLog, type LogEntry, readRun } from '../../orchestrator/log/index.ts';
import { ManualClock } from '../../platform/clock.ts';
import { newId } from '../../platform/ids.ts';
import { ensurePartitions } from '../../platform/postgres/partitions.ts';
import { runProjection } from '../../testing/engine/projection.ts';
import { createTestDatabase, type TestDatabase } from '../../testing/postgres.ts';
import { DAY, idAt, makeMonths, NOW, partitionNames, silent, writeRuns } from '../../testing/retention.ts';
import { cutoffsAt } from './policy.ts';
import { sweep } from './sweep.ts';

let db: TestDatabase;
beforeAll(async () => {
  db = await createTestDatabase();
  await makeMonths(db.pool);
});
afterAll(() => db.close());

const AUGUST = Date.UTC(2026, 7, 15);

/** A log entry with one event of a run; the first entry also has the row of the run. */
function entry(runId: string, seq: number): LogEntry {
  const owner = { tenantId: 'acme', projectId: newId(), workflowId: newId() };
  const payloads: LogEntry['payloads'][number][] = [];
  const result = seq % 5 === 0 ? 'x'.repeat(20_000) : seq;
  const event = { at: NOW, type: 'step_completed', step: 'a', attempt: 1, data: { result } } as const;
  return {
    runId,
    rows: [encodeEvent(event, seq, payloads)],
    payloads,
    projection: runProjection({ stepsDone: seq, lastSeq: seq }),
    ...(seq === 1 && {
      created: {
        ...owner,
        version: 1,
        sessionId: 's',
        triggerType: 'api',
        startedBy: 'ann',
        startedAt: NOW,
        stepsTotal: 1,
      },
    }),
    tasks: [],
    owner,
    startedBy: '',
    usage: [],
  };
}

test('runs that advance or start in a month while it is purged lose nothing and are not refused', async () => {
  const client = new pg.Client({ connectionString: db.url });
  await client.connect();
  const log = new GroupCommitLog({ commit: batch => client.query(commitStatement(batch)) }, () => undefined);
  const last = new Map<string, number>();
  let over = false;
  const advance = async (runId: string) => {
    last.set(runId, 1);
    await log.append(entry(runId, 1));
    for (let seq = 2; !over; seq++) {
      await log.append(entry(runId, seq));
      last.set(runId, seq);
    }
  };
  const advancing = Array.from({ length: 4 }, () => advance(idAt(AUGUST)));
  // Clients choose ids, so new runs may start in any month, even in a month that is being dropped.
  const beginning = (async () => {
    while (!over) {
      const runId = idAt(Date.UTC(2026, 8, 15));
      await log.append(entry(runId, 1));
      await log.append(entry(runId, 2));
      last.set(runId, 2);
      await db.pool.query('UPDATE runs SET ended_at = to_timestamp(0) WHERE id = $1', [runId]);
      last.delete(runId);
    }
  })();
  const passes = { rewritten: 0, postponed: 0 };
  // A pass is postponed if the machine is too slow, so more passes are allowed then.
  for (let pass = 0; pass < 25 || (pass < 100 && passes.rewritten <= 20); pass++) {
    const past = Array.from({ length: 5 }, () => ({ id: idAt(AUGUST), endedAt: AUGUST }));
    await writeRuns(db.pool, past);
    const pause = async () => undefined;
    const cutoffs = cutoffsAt({ runDays: 30, usageMonths: 0, auditDays: 0 }, NOW);
    const result = await sweep({ url: db.url, logger: silent, cutoffs, now: NOW, pause });
    expect(result.runs).toBeGreaterThanOrEqual(5);
    passes.rewritten += result.rewritten.length;
    passes.postponed += result.postponed.length;
  }
  over = true;
  await Promise.all([...advancing, beginning]);
  await log.drain();
  await client.end();
  expect(passes.rewritten).toBeGreaterThan(20);
  expect(await partitionNames(db.pool)).toContain('run_events_2026_08');
  for (const [runId, seq] of last) {
    const { rows } = await db.pool.query('SELECT seq FROM run_events WHERE run_id = $1 ORDER BY seq', [runId]);
    expect(rows.map(row => row.seq)).toEqual(Array.from({ length: seq }, (_, index) => index + 1));
    // The run is read with all its payloads.
    expect((await readRun(db.pool, runId))?.events).toHaveLength(seq);
  }
  expect(Math.min(...last.values())).toBeGreaterThan(20);
});

test('a run that starts at the moment when its month is dropped keeps its log', async () => {
  await using other = await createTestDatabase();
  const october = Date.UTC(2026, 9, 15);
  await ensurePartitions(other.pool, new ManualClock(october), silent);
  const runId = idAt(october);
  const writer = new pg.Client({ connectionString: other.url });
  await writer.connect();
  await writer.query('BEGIN');
  await writer.query(commitStatement([entry(runId, 1)]));
  const cutoffs = cutoffsAt({ runDays: 30, usageMonths: 0, auditDays: 0 }, NOW + 30 * DAY);
  const passing = sweep({ url: other.url, logger: silent, cutoffs, now: NOW, pause: async () => undefined });
  let isOver = false;
  void passing.finally(() => {
    isOver = true;
  });
  const waits = `SELECT FROM pg_stat_activity WHERE datname = current_database() AND wait_event_type = 'Lock'`;
  await expect.poll(async () => isOver || (await other.pool.query(waits)).rowCount === 1).toBe(true);
  await writer.query('COMMIT');
  await writer.end();
  // If this machine was too slow for the pass, it was postponed, and then nothing was dropped either.
  expect((await passing).dropped).not.toContain('run_events_2026_10');
  expect((await readRun(other.pool, runId))?.events).toHaveLength(1);
});
