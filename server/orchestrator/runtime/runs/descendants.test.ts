import { afterAll, afterEach, beforeAll, expect, test } from 'vitest';
import { newId } from '../../../platform/ids.ts';
import {
  createHarness,
  DEFAULT_CONFIG,
  Gate,
  type Harness,
  type HarnessOptions,
  stepType,
} from '../../../testing/engine/runtime.ts';
import { createTestDatabase, type TestDatabase } from '../../../testing/postgres.ts';
import type { Graph, JsonMap } from '../../core/index.ts';
import type { RunRef } from '../../ports/orchestrator.ts';
import { Descendants } from './descendants.ts';

let db: TestDatabase;
beforeAll(async () => {
  db = await createTestDatabase();
});
afterAll(() => db.close());
const open: Harness[] = [];
afterEach(async () => {
  for (const h of open.splice(0)) await h.orchestrator.close();
});

/** Calls the workflow that the input or `workflow_id` names, without waiting for it. */
const call = stepType('call_workflow', async ({ step, input, child }) => {
  if (child != null) return { kind: 'completed', result: null };
  const workflowId = String(step.workflow_id ?? input.workflow_id);
  return { kind: 'calling', call: { workflowId, version: 1, input, detach: step.detach !== false } };
});
async function harness(limits: Partial<typeof DEFAULT_CONFIG>, options: HarnessOptions = {}): Promise<Harness> {
  const made = await createHarness(db, {
    ...options,
    config: { ...DEFAULT_CONFIG, ...limits },
    types: [call, ...(options.types ?? [])],
  });
  open.push(made);
  return made;
}
const callers = (count: number, more: JsonMap = {}): Graph => ({
  steps: Array.from({ length: count }, (_, index) => ({ id: `c${index}`, type: 'call_workflow', ...more })),
});
async function beneath(root: string): Promise<{ started: number; active: number; deepest: number; failed: number }> {
  const { rows } = await db.pool.query(
    `SELECT count(*)::int AS started, count(*) FILTER (WHERE r.ended_at IS NULL)::int AS active,
            coalesce(max((e.data->'parent'->>'depth')::int), 0) AS deepest,
            count(*) FILTER (WHERE r.status = 'failed')::int AS failed
       FROM run_descendants d JOIN runs r ON r.id = d.run_id JOIN run_events e ON e.run_id = r.id AND e.seq = 1
      WHERE d.root_run_id = $1`,
    [root],
  );
  return rows[0];
}
async function allEnded(root: string): Promise<void> {
  for (;;) {
    const { started, active } = await beneath(root);
    if (started > 0 && active === 0) return;
    await new Promise(resolve => setImmediate(resolve));
  }
}
const errorsOf = async (h: Harness, ref: RunRef) =>
  (await h.events(ref)).flatMap(({ event }) => (event.type === 'step_failed' ? [event.data.error.code] : []));

test('a workflow whose steps all call it ends at the limit, however many of them start at a time', async () => {
  const h = await harness({ maxDescendants: 60 });
  const bomb = h.workflow(callers(40, { on_error: 'continue' }));
  const ref = await h.start(bomb, { input: { workflow_id: bomb.workflowId } });
  await h.ended(ref);
  await allEnded(ref.runId);
  expect(await beneath(ref.runId)).toMatchObject({ started: 60, active: 0 });
  const { rows } = await db.pool.query<{ code: string; count: number }>(
    `SELECT e.data->'error'->>'code' AS code, count(*)::int AS count
       FROM run_descendants d JOIN run_events e ON e.run_id = d.run_id
      WHERE d.root_run_id = $1 AND e.event_type = 'step_failed' GROUP BY 1`,
    [ref.runId],
  );
  // 61 runs of 40 steps made 2,440 calls, of which 60 started a run.
  const ofRoot = await errorsOf(h, ref);
  expect(rows).toEqual([{ code: 'too_many_descendants', count: 2_440 - 60 - ofRoot.length }]);
});

test('the runs that are active at a time are limited: a call is refused, and may be retried', async () => {
  const gate = new Gate();
  const h = await harness({ maxActiveDescendants: 3 }, { types: [gate.type] });
  const child = h.workflow({ steps: [{ id: 'only', type: 'gate' }] });
  const parent = h.workflow(callers(5, { workflow_id: child.workflowId, on_error: 'continue' }));
  const ref = await h.start(parent);
  await h.ended(ref);
  await gate.arrived(3);
  expect(await errorsOf(h, ref)).toEqual(['too_many_active_descendants', 'too_many_active_descendants']);
  expect(await beneath(ref.runId)).toMatchObject({ started: 3, active: 3 });
  for (const { settle } of gate.waiting) settle({ kind: 'completed', result: 1 });
  await allEnded(ref.runId);
  // Runs at the top are not beneath it.
  const other = await h.start(parent);
  await h.ended(other);
  expect(await errorsOf(h, other)).toHaveLength(2);
});

test('every start at every depth knows the run at the top', async () => {
  const h = await harness({});
  const leaf = h.workflow({ steps: [{ id: 'only', type: 'echo' }] });
  const middle = h.workflow(callers(2, { workflow_id: leaf.workflowId }));
  const ref = await h.start(h.workflow(callers(2, { workflow_id: middle.workflowId })));
  await h.ended(ref);
  const full = async () => {
    const { started, active } = await beneath(ref.runId);
    return started === 6 && active === 0;
  };
  while (!(await full())) await new Promise(resolve => setImmediate(resolve));
  const { rows } = await db.pool.query(
    `SELECT DISTINCT e.data->'parent'->>'root' AS root, (e.data->'parent'->>'depth')::int AS depth
       FROM run_descendants d JOIN run_events e ON e.run_id = d.run_id AND e.seq = 1
      WHERE d.root_run_id = $1 ORDER BY 2`,
    [ref.runId],
  );
  expect(rows).toEqual([
    { root: ref.runId, depth: 1 },
    { root: ref.runId, depth: 2 },
  ]);
});

test('the next leader continues the count', async () => {
  const gate = new Gate();
  const first = await harness({ maxDescendants: 3 }, { types: [gate.type] });
  const child = first.workflow({ steps: [{ id: 'only', type: 'gate' }] });
  const graph: Graph = {
    steps: [
      ...callers(2, { workflow_id: child.workflowId }).steps,
      { id: 'wait', type: 'human_task', depends_on: ['c0', 'c1'] },
      { id: 'd0', type: 'call_workflow', workflow_id: child.workflowId, depends_on: ['wait'] },
      { id: 'd1', type: 'call_workflow', workflow_id: child.workflowId, depends_on: ['wait'] },
    ],
  };
  const ref = await first.start(first.workflow(graph));
  await gate.arrived(2);
  await first.until(ref, event => event.type === 'task_pending');
  await first.orchestrator.close();
  const next = await harness({ maxDescendants: 3 }, { types: [gate.type] });
  await next.orchestrator.completeTask(ref, { step: 'wait', approved: true, result: {}, by: 'ann' });
  await next.ended(ref);
  expect(await errorsOf(next, ref)).toEqual(['too_many_descendants']);
  expect(await beneath(ref.runId)).toMatchObject({ started: 3 });
});

test('a run that a request of another one started counts, and none starts beneath one that is eight calls deep', async () => {
  const h = await harness({ maxDescendants: 2 });
  const workflow = h.workflow({ steps: [{ id: 'only', type: 'echo' }] });
  const root_run_id = newId();
  const start = (depth: number) => h.start(workflow, { beneath: { root_run_id, depth } });
  await expect(start(9)).rejects.toMatchObject({ status: 422, code: 'calls_too_deep' });
  await h.ended(await start(8));
  await h.ended(await start(1));
  await expect(start(1)).rejects.toMatchObject({ status: 422, code: 'too_many_descendants' });
  expect(await beneath(root_run_id)).toMatchObject({ started: 2, active: 0 });
});

test('a start that is refused for another reason does not count', async () => {
  const h = await harness({ maxDescendants: 2 });
  const workflow = h.workflow({ steps: [{ id: 'only', type: 'echo' }] });
  const root_run_id = newId();
  const first = await h.start(workflow, { beneath: { root_run_id, depth: 1 } });
  await h.ended(first);
  for (let attempt = 0; attempt < 3; attempt++)
    await expect(h.start(workflow, { beneath: { root_run_id, depth: 1 } }, first.runId)).rejects.toMatchObject({
      code: 'run_id_taken',
    });
  await h.ended(await h.start(workflow, { beneath: { root_run_id, depth: 1 } }));
  expect(await beneath(root_run_id)).toMatchObject({ started: 2 });
});

test('an end while the counts are being read does not stay counted as active', async () => {
  const answer = Promise.withResolvers<{ started: number; active: number }>();
  const limits = { maxDescendants: 10, maxActiveDescendants: 2 };
  const descendants = new Descendants(limits, { countDescendants: () => answer.promise });
  const counting = descendants.counting('root');
  expect(descendants.counting('root')).toBe(counting);
  descendants.ended('root');
  answer.resolve({ started: 2, active: 2 });
  await counting;
  expect(descendants.counting('root')).toBe(null);
  descendants.reserve('root', 'acme');
  expect(() => descendants.reserve('root', 'acme')).toThrow('which is the limit');
});

test('a count that cannot be read is a temporary failure, and is read again', async () => {
  let reads = 0;
  const descendants = new Descendants(DEFAULT_CONFIG, {
    countDescendants: async () => {
      reads += 1;
      if (reads === 1) throw new Error('query timeout');
      return { started: 0, active: 0 };
    },
  });
  await expect(descendants.counting('root')).rejects.toMatchObject({ status: 503, code: 'unavailable' });
  await descendants.counting('root');
  expect(descendants.counting('root')).toBe(null);
});
