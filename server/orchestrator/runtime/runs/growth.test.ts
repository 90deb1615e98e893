import { expect, test } from 'vitest';
import { chain, createHarness, type Harness, outline, stepType } from '../../../testing/engine/runtime.ts';
import { createTestDatabase } from '../../../testing/postgres.ts';
import type { Graph, GraphStep, JsonValue } from '../../core/index.ts';
import { readRunsToFold } from '../../log/read-to-fold.ts';
import type { Attempt, Outcome } from '../../ports/step-type.ts';

/** Behaves like a loop: its items are numbers up to `count`, with `padding` characters of text each. */
const loopType = stepType('for_each', async ({ step, gathered }): Promise<Outcome> => {
  if (gathered != null) {
    const results = gathered.ends.map(end => end?.[0] ?? null);
    return { kind: 'completed', result: { results, failed: gathered.failed } };
  }
  const count = Number(step.count);
  const items = Array.from({ length: count }, (_, index) => ({ index, text: 'x'.repeat(Number(step.padding)) }));
  const plan = { type: 'for_each', count, concurrency: Number(step.concurrency), on_item_error: 'continue' } as const;
  return { kind: 'expanding', plan, items };
});

const read = ({ item }: Attempt): number => (item?.item as { index: number } | undefined)?.index ?? -1;

const loop = (steps: GraphStep[], over: Partial<GraphStep> = {}): Graph => ({
  steps: [
    {
      id: 'each',
      type: 'for_each',
      count: 5,
      concurrency: 2,
      padding: 0,
      // A graph is JSON: only its type has absent fields as undefined ones.
      steps: steps as unknown as JsonValue,
      ...over,
    },
  ],
});

async function resultOf(harness: Harness, graph: Graph): Promise<{ result: JsonValue; log: string[] }> {
  const ref = await harness.start(harness.workflow(graph));
  await harness.ended(ref);
  const events = await harness.events(ref);
  const end = events.findLast(({ event }) => event.type === 'step_completed' && event.step === 'each')?.event;
  const result = end?.type === 'step_completed' && 'result' in end.data ? (end.data.result as JsonValue) : null;
  return { result, log: outline(events) };
}

test('each item is executed once, and its result is at its index', async () => {
  await using db = await createTestDatabase();
  const double = stepType('double', async attempt => ({ kind: 'completed', result: read(attempt) * 2 }));
  const harness = await createHarness(db, { types: [loopType, double] });
  const { result, log } = await resultOf(harness, loop([{ id: 'a', type: 'double' }]));
  expect(result).toEqual({ results: [0, 2, 4, 6, 8], failed: 0 });
  for (const index of [0, 1, 2, 3, 4])
    expect(log.filter(line => line === `step_started each.${index}.a`)).toHaveLength(1);
  expect(log.at(-1)).toBe('state_changed completed');
  await harness.orchestrator.close();
});

test('a step reads what comes before it in its item and before the loop, large results included', async () => {
  await using db = await createTestDatabase();
  const large = stepType('large', async attempt => ({
    kind: 'completed',
    result: `${attempt.step.id} ${'y'.repeat(20_000)}`,
  }));
  const join = stepType('join', async attempt => ({
    kind: 'completed',
    result: ['before', 'a'].map(step => String(attempt.result(step)).slice(0, 10).trim()),
  }));
  const harness = await createHarness(db, { types: [loopType, large, join] });
  const inner: GraphStep[] = [
    { id: 'a', type: 'large' },
    { id: 'b', type: 'join', depends_on: ['a'] },
  ];
  const graph = loop(inner, { depends_on: ['before'], count: 2 });
  graph.steps.unshift({ id: 'before', type: 'large' });
  const { result } = await resultOf(harness, graph);
  expect(result).toEqual({
    results: [
      ['before yyy', 'each.0.a y'],
      ['before yyy', 'each.1.a y'],
    ],
    failed: 0,
  });
  await harness.orchestrator.close();
});

test('large results of items are gathered from the log', async () => {
  await using db = await createTestDatabase();
  const large = stepType('large', async attempt => ({
    kind: 'completed',
    result: { of: read(attempt), text: 'y'.repeat(20_000) },
  }));
  const harness = await createHarness(db, { types: [loopType, large] });
  const ref = await harness.start(harness.workflow(loop([{ id: 'a', type: 'large' }])));
  await harness.ended(ref);
  const { rows } = await db.pool.query<{ of: number[] }>(
    `SELECT array(SELECT (item->>'of')::int FROM json_array_elements(body->'results') item) AS of
     FROM run_payloads WHERE run_id = $1 AND body::jsonb ? 'results'`,
    [ref.runId],
  );
  expect(rows).toEqual([{ of: [0, 1, 2, 3, 4] }]);
  await harness.orchestrator.close();
});

test('a process that takes over continues the loop where it was, with items of any size', async () => {
  await using db = await createTestDatabase();
  const starts: string[] = [];
  const { promise: never } = Promise.withResolvers<Outcome>();
  const once = (hangsAt: number | null) =>
    stepType('once', async attempt => {
      starts.push(`${attempt.step.id}#${attempt.attempt}`);
      return read(attempt) === hangsAt ? never : { kind: 'completed', result: read(attempt) };
    });
  const before = await createHarness(db, { types: [loopType, once(3)] });
  const ref = await before.start(before.workflow(loop([{ id: 'a', type: 'once' }], { padding: 10_000 })));
  await before.until(ref, event => event.type === 'step_completed' && event.step === 'each.4.a');
  await before.orchestrator.close();

  const after = await createHarness(db, { types: [loopType, once(null)] });
  await after.ended(ref);
  const events = await after.events(ref);
  expect(outline(events).at(-1)).toBe('state_changed completed');
  expect(starts).toEqual(['each.0.a#1', 'each.1.a#1', 'each.2.a#1', 'each.3.a#1', 'each.4.a#1', 'each.3.a#2']);
  await after.orchestrator.close();
});

test('the end of a run is read without the items of its loops', async () => {
  await using db = await createTestDatabase();
  const hangs = stepType('hangs', () => new Promise<Outcome>(() => {}));
  const harness = await createHarness(db, { types: [loopType, hangs] });
  const graph = loop([{ id: 'a', type: 'hangs' }], { padding: 10_000, concurrency: 5 });
  const ref = await harness.start(harness.workflow(graph));
  await harness.until(ref, event => event.type === 'step_started' && event.step === 'each.4.a');
  const { runs } = await readRunsToFold(db.pool, [ref.runId], { maxBytes: 1_000_000, skeleton: true });
  const skeleton = runs.get(ref.runId);
  const added = skeleton?.ok ? skeleton.run.events.find(event => event.type === 'steps_added') : undefined;
  expect(added?.data).toMatchObject({ steps: [0, 1, 2, 3, 4].map(index => ({ id: `each.${index}.a` })) });
  expect(JSON.stringify(skeleton).length).toBeLessThan(10_000);
  await harness.orchestrator.close();
});

test('items and results with NUL or half a surrogate pair are cleaned', async () => {
  await using db = await createTestDatabase();
  const odd = ['half \ud800', 'nul \u0000'];
  const plan = { type: 'for_each', count: 2, concurrency: 2, on_item_error: 'continue' } as const;
  const grows = stepType('for_each', async ({ gathered }) =>
    gathered == null
      ? { kind: 'expanding', plan, items: odd }
      : { kind: 'completed', result: gathered.ends.map(end => end?.[0] ?? null) },
  );
  const same = stepType('same', async ({ item }) => ({ kind: 'completed', result: item?.item ?? null }));
  const harness = await createHarness(db, { types: [grows, same] });
  const { result } = await resultOf(harness, loop([{ id: 'a', type: 'same' }]));
  expect(JSON.stringify(result)).toBe(JSON.stringify(['half \uFFFD', 'nul \uFFFD']));
  await harness.orchestrator.close();
});

test('an outcome that the database refuses fails only its item', async () => {
  await using db = await createTestDatabase();
  // PostgreSQL has no date as early as this.
  const task = { name: 't', instructions: '', form: {}, assignees: [], due_at: -1e15, on_timeout: 'fail' as const };
  const odd = stepType('odd', async attempt =>
    read(attempt) === 2 ? { kind: 'waiting', task } : { kind: 'completed', result: read(attempt) },
  );
  const harness = await createHarness(db, { types: [loopType, odd] });
  // One at a time: outcomes that are refused together fail together.
  const { result, log } = await resultOf(harness, loop([{ id: 'a', type: 'odd' }], { concurrency: 1 }));
  expect(result).toEqual({ results: [0, 1, null, 3, 4], failed: 1 });
  expect(log.filter(line => line.startsWith('step_failed'))).toEqual(['step_failed each.2.a']);
  const { rows } = await db.pool.query(
    "SELECT data->'error'->>'code' AS code FROM run_events WHERE event_type = 'step_failed'",
  );
  expect(rows).toEqual([{ code: 'not_storable' }]);
  await harness.orchestrator.close();
});

test('a chain of ordinary steps adds nothing', async () => {
  await using db = await createTestDatabase();
  const harness = await createHarness(db);
  const ref = await harness.start(harness.workflow(chain(3)));
  await harness.ended(ref);
  expect(outline(await harness.events(ref)).filter(line => line.includes('added'))).toEqual([]);
  await harness.orchestrator.close();
});
