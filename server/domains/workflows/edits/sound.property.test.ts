import fc from 'fast-check';
import { afterAll, describe, expect, test } from 'vitest';
import type { Graph } from '../../../orchestrator/core/index.ts';
import { LuaPool } from '../../../orchestrator/languages/lua/index.ts';
import { createStepTypes } from '../../../orchestrator/steps/registry.ts';
import { validateGraph } from '../../../orchestrator/validation/index.ts';
import { apply, type Draft, diff, type Edit, type Json, merge, type Step } from './index.ts';

/** Tests that a merge of two publishable drafts can be published or is a conflict. */
const luaPool = new LuaPool({ workers: 1 });
const types = createStepTypes({ luaPool });
afterAll(() => luaPool.close());
const scope = { tenantId: 'acme', projectId: '01900000-0000-7000-8000-000000000001' };
const RUNS = { numRuns: 400 };

/** Returns the errors of validation, which is independent of merging. */
const errorsOf = async (draft: Draft): Promise<string[]> =>
  (await validateGraph(draft.graph as unknown as Graph, types, scope)).errors.map(
    ({ step_id, path, code, message }) => `${step_id} ${path} ${code}: ${message}`,
  );
/** Returns the steps that are in both branches of a condition, which a merge of two different branches must not create. */
const inBoth = ({ graph }: Draft): string[] =>
  graph.steps.flatMap(step => {
    const [then, other] = [step.then, step.else].map(ids => (Array.isArray(ids) ? ids : []));
    return (then ?? []).filter(id => other?.includes(id)).map(id => `${step.id} ${String(id)}`);
  });

const IDS = ['a', 'b', 'c', 'd'];
const lua = (id: string, depends_on: readonly string[] = []): Step => ({
  id,
  type: 'lua_script',
  script: 'return 1',
  ...(depends_on.length > 0 && { depends_on }),
});
/** The condition `check` has the branches b and c. The step d depends on both and reads b. */
const check: Step = {
  id: 'check',
  type: 'condition',
  expression: 'steps.a.result == 1',
  depends_on: ['a'],
  then: ['b'],
};
const askStep = (id: string, reads: string, depends_on: readonly string[]): Step => ({
  id,
  type: 'human_task',
  instructions: `Is {{steps.${reads}.result ?? 0}} right?`,
  depends_on,
});
const base: Draft = {
  name: 'n',
  description: '',
  graph: {
    steps: [lua('a'), check, lua('b', ['check']), lua('c', ['a']), askStep('d', 'b', ['b', 'c'])],
    output: { c: '{{steps.c.result ?? 0}}' },
  },
  run_setup: {},
};

const id = fc.constantFrom('check', ...IDS);
const fresh = fc.constantFrom('x', 'y', 'a', 'b');
const branch = fc.constantFrom(undefined, 'then' as const, 'else' as const);
const record = <T extends string, R>(type: T, fields: { [K in keyof R]: fc.Arbitrary<R[K]> }) =>
  fc.record({ type: fc.constant(type), ...fields }) as fc.Arbitrary<{ type: T } & R>;
const edit: fc.Arbitrary<Edit> = fc.oneof(
  fc
    .tuple(fresh, id, id)
    .map(([own, reads, after]): Edit => ({ type: 'add_step', step: askStep(own, reads, [after]) })),
  fc.tuple(fresh, id).map(([own, after]): Edit => ({ type: 'add_step', step: lua(own, [after]) })),
  fc.tuple(id, id).map(([step, of]): Edit => ({ type: 'update_step', step, set: { name: `about ${of}` } })),
  fc.tuple(id, id).map(([step, of]): Edit => {
    const set = { instructions: `{{steps.${of}.result}}` };
    return { type: 'update_step', step, set };
  }),
  id.map((of): Edit => ({ type: 'update_graph', set: { output: { of: `{{steps.${of}.result ?? 0}}` } } })),
  fc.tuple(id, fc.constantFrom('first', 'second', 'x')).map(([step, to]): Edit => ({ type: 'rename_step', step, to })),
  record('remove_step', { step: id, heal: fc.boolean() }),
  record('connect', { from: id, to: id, branch }),
  record('disconnect', { from: id, to: id }),
  fc.tuple(id, id, fresh).map(([from, to, own]): Edit => ({ type: 'insert_between', from, to, step: lua(own) })),
);
const edits = fc.array(edit, { minLength: 1, maxLength: 4 });

/** Applies the edits of a person, except those after which the draft could not be published. */
async function edited(draft: Draft, changes: readonly Edit[]): Promise<Draft> {
  let now = draft;
  for (const change of changes) {
    const result = apply(now, change);
    if (result.ok && (await errorsOf(result.draft)).length === 0) now = result.draft;
  }
  return now;
}

/** Expects that the merged draft has each change of a side. Lists of ids must contain at least the added ids. */
function expectKept(from: Draft, side: Draft, merged: Draft): void {
  const result = new Map(merged.graph.steps.map(step => [step.id, step]));
  for (const change of diff(from, side).steps) {
    const step = result.get(change.step);
    if (change.change === 'removed') expect(step).toBeUndefined();
    else if (change.change === 'added') expect(step).toMatchObject({ id: change.step, type: change.after.type });
    else
      for (const { field, before, after } of change.fields) {
        const lists = [before ?? [], after ?? []].every(Array.isArray);
        if (!lists) expect(step?.[field]).toEqual(after);
        else
          for (const each of (after ?? []) as Json[])
            if (!((before ?? []) as Json[]).includes(each)) expect(step?.[field]).toContain(each);
      }
  }
}

async function expectSound(merged: Draft, sides: readonly Draft[]): Promise<void> {
  expect(await errorsOf(merged)).toEqual([]);
  const known = sides.flatMap(inBoth);
  expect(inBoth(merged).filter(each => !known.includes(each))).toEqual([]);
}

test('the initial draft can be published', async () => {
  expect(await errorsOf(base)).toEqual([]);
});

describe('a merge of two sound sides', () => {
  test('is sound and loses nothing, or is a conflict', async () => {
    let merges = 0;
    await fc.assert(
      fc.asyncProperty(edits, edits, async (left, right) => {
        const [ours, theirs] = [await edited(base, left), await edited(base, right)];
        const result = merge(base, ours, theirs);
        if (!result.ok) {
          expect(result.conflicts.length).toBeGreaterThan(0);
          return;
        }
        merges += 1;
        await expectSound(result.draft, [ours, theirs]);
        for (const side of [ours, theirs]) expectKept(base, side, result.draft);
      }),
      RUNS,
    );
    // Most pairs of edits are independent.
    expect(merges).toBeGreaterThan(RUNS.numRuns / 4);
  });

  test('has no conflict left after a person has decided', async () => {
    await fc.assert(
      fc.asyncProperty(edits, edits, fc.constantFrom('ours' as const, 'theirs' as const), async (left, right, side) => {
        const result = merge(base, await edited(base, left), await edited(base, right), () => side);
        expect(result.ok).toBe(true);
      }),
      RUNS,
    );
  });
});

describe('an undo after later edits', () => {
  test('of a proposal is sound and keeps later edits, or is a conflict', async () => {
    await fc.assert(
      fc.asyncProperty(edits, edits, async (proposed, later) => {
        const after = await edited(base, proposed);
        const now = await edited(after, later);
        const undone = merge(after, base, now);
        if (!undone.ok) return;
        await expectSound(undone.draft, [base, now]);
        expectKept(after, now, undone.draft);
      }),
      RUNS,
    );
  });

  test('of a rename also renames later references, or is refused', async () => {
    await fc.assert(
      fc.asyncProperty(id, edits, async (step, later) => {
        const done = apply(base, { type: 'rename_step', step, to: 'renamed' });
        if (!done.ok) throw new Error(done.problem.message);
        const now = await edited(done.draft, later);
        const undone = apply(now, done.inverse);
        if (!undone.ok) {
          expect(undone.problem.code).toBe('step_exists');
          return;
        }
        expect(await errorsOf(undone.draft)).toEqual([]);
        expect(undone.draft.graph.steps).toHaveLength(now.graph.steps.length);
        expect(JSON.stringify(undone.draft)).not.toContain('renamed');
      }),
      RUNS,
    );
  });
});
