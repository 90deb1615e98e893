import fc from 'fast-check';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { newId } from '../../platform/ids.ts';
import { createTestDatabase, type TestDatabase } from '../../testing/postgres.ts';
import type { JsonMap, RunEvent, SkipReason } from '../core/index.ts';
import { encodeEvents, expandRow, MIN_COMPACT_SKIPS, STEPS_SKIPPED } from './compact-skips.ts';
import { decodeEvent, type StoredEvent } from './decode.ts';
import type { EventRow } from './encode.ts';
import type { LogEntry } from './entry.ts';
import { readEvents, readRun } from './read.ts';
import { readRunsToFold } from './read-to-fold.ts';
import { commitStatement } from './statement.ts';

const AT = Date.UTC(2026, 10, 27);
let db: TestDatabase;
beforeAll(async () => {
  db = await createTestDatabase();
});
afterAll(() => db.close());

const skip = (step: string, reason: SkipReason = 'blocked', at = AT): RunEvent => ({
  at,
  type: 'step_completed',
  step,
  data: { skipped: true, reason },
});
const done = (step: string): RunEvent => ({ at: AT, type: 'step_completed', step, attempt: 1, data: { result: 1 } });
const skips = (count: number, prefix = 's'): RunEvent[] =>
  Array.from({ length: count }, (_, index) => skip(`${prefix}${index}`));

const asStored = ({ seq, type, step, attempt, json, at }: EventRow): StoredEvent => ({
  seq,
  event_type: type,
  step_id: step,
  attempt,
  data: JSON.parse(json) as JsonMap,
  created_at: new Date(at),
});
const decoded = (rows: readonly EventRow[]) =>
  rows.flatMap(row => expandRow(asStored(row)).map(each => ({ seq: each.seq, event: decodeEvent(each) })));
const shapeOf = (rows: readonly EventRow[]) => rows.map(({ seq, type }) => `${seq} ${type}`);

describe('rows', () => {
  test('stay single if few skips follow one another', () => {
    const events = [done('a'), ...skips(MIN_COMPACT_SKIPS - 1), done('b'), ...skips(1, 't')];
    const rows = encodeEvents(events, 7, []);
    expect(rows.map(({ seq }) => seq)).toEqual(events.map((_, index) => 7 + index));
    expect(rows.map(({ json }) => json)).toEqual(events.map(({ data }) => JSON.stringify(data)));
    expect(rows.map(({ type }) => type)).not.toContain(STEPS_SKIPPED);
  });

  test('represent five or more skips, with the number of the first', () => {
    const events = [done('a'), ...skips(5), done('b'), ...skips(1_990, 't')];
    const rows = encodeEvents(events, 3, []);
    expect(shapeOf(rows)).toEqual(['3 step_completed', '4 steps_skipped', '9 step_completed', '10 steps_skipped']);
    expect(rows[1]?.json).toBe('{"skips":[{"reason":"blocked","steps":["s0","s1","s2","s3","s4"]}]}');
    expect(decoded(rows)).toEqual(events.map((event, index) => ({ seq: 3 + index, event })));
  });

  test('represent skips of different reasons at the same instant', () => {
    const events = [skip('a'), skip('b', 'step_disabled'), skip('c'), skip('d', 'out_of_scope'), skip('e')];
    const later = skips(5).map(event => ({ ...event, at: AT + 1 }));
    const rows = encodeEvents([...events, ...later], 1, []);
    expect(shapeOf(rows)).toEqual(['1 steps_skipped', '6 steps_skipped']);
    expect(decoded(rows).map(({ event }) => event)).toEqual([...events, ...later]);
  });

  test('represent no more ids than a page may have to read', () => {
    const events = Array.from({ length: 2_000 }, (_, index) => skip(`${'x'.repeat(60)}${index}`));
    const rows = encodeEvents(events, 1, []);
    expect(Math.max(...rows.map(({ json }) => json.length))).toBeLessThan(17_000);
    expect(rows.length).toBeLessThan(10);
    expect(decoded(rows)).toEqual(events.map((event, index) => ({ seq: 1 + index, event })));
  });

  test('do not combine decisions of a person or a model about one step', () => {
    const events = Array.from({ length: 6 }, (_, index) =>
      skip(`a${index}`, index % 2 ? 'not_approved' : 'not_repeated'),
    );
    expect(encodeEvents(events, 1, []).map(({ type }) => type)).not.toContain(STEPS_SKIPPED);
  });
});

const reason = fc.constantFrom<SkipReason>(
  'blocked',
  'out_of_scope',
  'step_disabled',
  'branch_not_taken',
  'run_stopped',
  'not_approved',
  'not_repeated',
);
const anyEvents = fc
  .array(
    fc.oneof(
      { weight: 6, arbitrary: fc.record({ reason, count: fc.integer({ min: 1, max: 9 }), later: fc.boolean() }) },
      { weight: 1, arbitrary: fc.constant(null) },
    ),
    { minLength: 1, maxLength: 12 },
  )
  .map(parts => {
    const events: RunEvent[] = [];
    let at = AT;
    for (const part of parts) {
      if (part === null) events.push(done(`s${events.length}`));
      if (part?.later) at += 1;
      for (let left = part?.count ?? 0; left > 0; left--) events.push(skip(`s${events.length}`, part?.reason, at));
    }
    return events;
  });

test('any events are restored with their numbers, whichever of them share a row', () => {
  fc.assert(
    fc.property(anyEvents, fc.integer({ min: 1, max: 50 }), (events, first) => {
      expect(decoded(encodeEvents(events, first, []))).toEqual(
        events.map((event, index) => ({ seq: first + index, event })),
      );
    }),
    { numRuns: 300 },
  );
});

const TENANT = newId();
const ids = { projectId: newId(), workflowId: newId() };

function entryOf(runId: string, events: readonly RunEvent[], firstSeq: number, isNew = firstSeq === 1): LogEntry {
  const created = {
    tenantId: TENANT,
    ...ids,
    version: 1,
    sessionId: 's',
    triggerType: 'manual',
    startedBy: 'ann',
    startedAt: AT,
    stepsTotal: 10,
  };
  return {
    runId,
    rows: encodeEvents(events, firstSeq, []),
    payloads: [],
    projection: {
      status: 'running',
      phase: 'executing',
      stepsDone: 0,
      stepsSkipped: 0,
      pendingTasks: 0,
      endedAt: null,
      error: null,
      nextTimerAt: null,
      lastSeq: firstSeq + events.length - 1,
      credits: 0,
    },
    ...(isNew && { created }),
    tasks: [],
    owner: { tenantId: TENANT, ...ids },
    startedBy: 'ann',
    usage: [],
  };
}
const commit = (...batch: LogEntry[]) => db.pool.query(commitStatement(batch));

const MIXED: readonly RunEvent[] = [
  done('first'),
  ...skips(3, 'few'),
  done('second'),
  ...skips(9, 'many'),
  skip('disabled', 'step_disabled'),
  done('third'),
  ...skips(6, 'each.0.'),
  done('last'),
];
async function mixedRun(): Promise<string> {
  const runId = newId();
  await commit(entryOf(runId, MIXED, 1));
  return runId;
}
const all = MIXED.map((event, index) => ({ seq: 1 + index, event }));
const page = async (runId: string, query: { after: number; limit: number; stepId?: string; types?: string[] }) =>
  (await readEvents(db.pool, { tenantId: TENANT, runId, ...query })).map(({ seq, event }) => ({ seq, event }));

describe('a reader', () => {
  test('gets the same events from every number, in pages of every size', async () => {
    const runId = await mixedRun();
    for (let after = 0; after <= all.length; after++)
      expect(await page(runId, { after, limit: 100 }), `after ${after}`).toEqual(all.slice(after));
    for (let limit = 1; limit <= 12; limit++) {
      const read: typeof all = [];
      for (let more = await page(runId, { after: 0, limit }); more.length > 0; ) {
        expect(more.length).toBeLessThanOrEqual(limit);
        read.push(...more);
        more = await page(runId, { after: read.length, limit });
      }
      expect(read).toEqual(all);
    }
  });

  test('finds the skip of one step, and skips by their type', async () => {
    const runId = await mixedRun();
    for (const { seq, event } of all) {
      const stepId = 'step' in event ? event.step : '';
      expect(await page(runId, { after: 0, limit: 10, stepId })).toEqual([{ seq, event }]);
      expect(await page(runId, { after: seq - 1, limit: 1, stepId })).toEqual([{ seq, event }]);
      expect(await page(runId, { after: seq, limit: 10, stepId })).toEqual([]);
    }
    expect(await page(runId, { after: 0, limit: 10, stepId: 'none' })).toEqual([]);
    expect(await page(runId, { after: 2, limit: 100, types: ['step_completed'] })).toEqual(all.slice(2));
    expect(await page(runId, { after: 0, limit: 100, types: ['step_failed'] })).toEqual([]);
  });

  test('finds events by a text in their type, step or data, and continues after each', async () => {
    const runId = await mixedRun();
    const found = async (contains: string, after = 0, limit = 100) =>
      (await readEvents(db.pool, { tenantId: TENANT, runId, after, limit, contains })).map(({ seq }) => seq);
    const every = all.map(({ seq }) => seq);
    expect(await found('STEP_COMPLETED')).toEqual(every);
    expect(await found('no such text')).toEqual([]);
    expect(await found('%')).toEqual([]);
    const read: number[] = [];
    for (
      let page = await found('step_completed', 0, 3);
      page.length > 0;
      page = await found('step_completed', read.at(-1), 3)
    )
      read.push(...page);
    expect(read).toEqual(every);
    const [, , one] = all;
    const step = one !== undefined && 'step' in one.event ? one.event.step : '';
    expect(await found(`${step}`)).toContain(one?.seq);
  });

  test('of another workspace gets nothing', async () => {
    const runId = await mixedRun();
    expect(await readEvents(db.pool, { tenantId: newId(), runId, after: 7, limit: 100 })).toEqual([]);
  });

  test('that folds gets them too, also without large values', async () => {
    const [one, other] = [await mixedRun(), await mixedRun()];
    expect((await readRun(db.pool, one))?.events).toEqual(MIXED);
    for (const skeleton of [false, true]) {
      const { runs } = await readRunsToFold(db.pool, [one, other], { maxBytes: 1_000_000, skeleton });
      for (const runId of [one, other]) {
        const read = runs.get(runId);
        expect(read?.ok && read.run.events).toEqual(MIXED);
      }
    }
  });

  test('of the view gets a row for each event, also of logs that PostgreSQL reads only partially', async () => {
    const runId = await mixedRun();
    for (const view of ['expanded_run_events', 'readable_expanded_run_events']) {
      const { rows } = await db.pool.query<StoredEvent>(`SELECT * FROM ${view} WHERE run_id = $1 ORDER BY seq`, [
        runId,
      ]);
      expect(rows.map(row => ({ seq: row.seq, event: decodeEvent(row) }))).toEqual(all);
    }
    await db.pool.query(`UPDATE run_events SET data = '{"result":"\\u0000"}' WHERE run_id = $1 AND seq = 1`, [runId]);
    const statement = `SELECT data->>'result' AS result FROM expanded_run_events WHERE run_id = '${runId}' AND seq = 1`;
    expect((await db.pool.query(statement)).rows).toEqual([{ result: '\ufffd' }]);
  });
});

test('a second writer is refused, whichever of the two writes many skips as one row', async () => {
  const before = [done('first')];
  const skipped = [...skips(20), done('second')];
  const single = entryOf(newId(), skips(4), 2);
  const many = entryOf(newId(), skipped, 2);
  for (const [first, second] of [
    [many, single],
    [single, many],
    [many, many],
  ]) {
    const runId = newId();
    await commit(entryOf(runId, before, 1));
    await commit({ ...(first as LogEntry), runId });
    await expect(commit({ ...(second as LogEntry), runId })).rejects.toMatchObject({ code: '23505' });
    expect((await readRun(db.pool, runId))?.events).toHaveLength(1 + (first === many ? 21 : 4));
  }
});
