import fc from 'fast-check';
import { expect, test } from 'vitest';
import { apply } from './apply.ts';
import { type Draft, idsIn, type Step } from './draft.ts';
import { extractWorkflow, inlineWorkflow } from './extract.ts';
import { dissolveLoop, groupIntoLoop } from './group.ts';
import { readsStep } from './references.ts';

/** Graphs whose steps read some earlier steps, with a selection of steps. */
const cases = fc
  .record({
    links: fc.array(fc.array(fc.nat(), { maxLength: 3 }), { minLength: 2, maxLength: 8 }),
    reads: fc.array(fc.boolean(), { minLength: 8, maxLength: 8 }),
    chosen: fc.array(fc.boolean(), { minLength: 8, maxLength: 8 }),
  })
  .map(({ links, reads, chosen }) => {
    const steps = links.map((before, n): Step => {
      const depends_on = n === 0 ? [] : [...new Set(before.map(each => `s${each % n}`))];
      const texts = depends_on.map(id => `{{steps.${id}.result.x}}`);
      const instructions = reads[n] ? `${texts.join(' ')} {{input.f${n % 3}}}` : 'Hello';
      return { id: `s${n}`, type: 'human_task', instructions, ...(depends_on.length > 0 ? { depends_on } : {}) };
    });
    const draft: Draft = { name: 'W', description: '', graph: { steps }, run_setup: {} };
    const ids = steps.filter((_, n) => chosen[n]).map(({ id }) => id);
    return { draft, ids: ids.length === 0 ? ['s0'] : ids };
  });

/** Returns whether each step reads only earlier steps, and the graph has no cycle. */
function isSound(steps: readonly Step[]): boolean {
  const byId = new Map(steps.map(step => [step.id, step]));
  const ancestors = new Map<string, Set<string>>();
  const open = new Set(steps);
  for (let size = -1; open.size !== size; ) {
    size = open.size;
    for (const step of open) {
      const before = idsIn(step.depends_on);
      if (!before.every(id => byId.has(id) && ancestors.has(id))) continue;
      ancestors.set(step.id, new Set(before.flatMap(id => [id, ...(ancestors.get(id) ?? [])])));
      open.delete(step);
    }
  }
  if (open.size > 0) return false;
  return steps.every(step =>
    steps.every(read => !readsStep(step, read.id) || ancestors.get(step.id)?.has(read.id) === true),
  );
}

test('grouping any steps into a loop leaves a sound graph, and dissolving the loop restores the texts', () => {
  let made = 0;
  fc.assert(
    fc.property(cases, ({ draft, ids }) => {
      const result = groupIntoLoop(draft, ids, 'loop');
      if (!result.ok) return;
      made += 1;
      expect(isSound(result.draft.graph.steps)).toBe(true);
      const applied = apply(draft, result.edit);
      expect(applied.ok && applied.draft).toEqual(result.draft);
      expect(applied.ok && apply(applied.draft, applied.inverse)).toMatchObject({ ok: true, draft });
      const back = dissolveLoop(result.draft, 'loop');
      if (!back.ok) throw new Error(back.message);
      expect(isSound(back.draft.graph.steps)).toBe(true);
      const texts = (steps: readonly Step[]) => new Map(steps.map(step => [step.id, step.instructions]));
      expect(texts(back.draft.graph.steps)).toEqual(texts(draft.graph.steps));
    }),
    { numRuns: 500 },
  );
  expect(made).toBeGreaterThan(50);
});

test('extracting and inlining any steps leaves a sound graph with the original texts', () => {
  let made = 0;
  fc.assert(
    fc.property(cases, ({ draft, ids }) => {
      const result = extractWorkflow(draft, ids, { step: 'call', workflow: 'wf', name: 'Part' });
      if (!result.ok) return;
      made += 1;
      expect(isSound(result.draft.graph.steps)).toBe(true);
      expect(isSound(result.graph.steps)).toBe(true);
      const back = inlineWorkflow(result.draft, 'call', { graph: result.graph, reserved: [], depth: 0 });
      if (!back.ok) throw new Error(back.message);
      expect(isSound(back.draft.graph.steps)).toBe(true);
      const texts = (steps: readonly Step[]) => new Map(steps.map(step => [step.id, step.instructions]));
      expect(texts(back.draft.graph.steps)).toEqual(texts(draft.graph.steps));
    }),
    { numRuns: 500 },
  );
  expect(made).toBeGreaterThan(50);
});
