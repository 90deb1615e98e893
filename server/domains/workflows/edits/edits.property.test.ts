import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { GRAPH_FIELDS, graphFields } from './draft.ts';
import { apply, choose, type Draft, diff, type Edit, merge, type Note, type Step } from './index.ts';
import { sameDraft } from './restore.ts';

/** Tests properties of random drafts, edits and merges. */
const RUNS = { numRuns: 1_000 };
const NO_CHANGES = { steps: [], reordered: false, notes: [], graph: [], run_setup: [], details: [] };
const IDS = ['a', 'b', 'c', 'd', 'e-1', 'f'];
const id = fc.constantFrom(...IDS);
const json = fc.oneof(
  fc.string({ maxLength: 6 }),
  fc.integer(),
  fc.boolean(),
  fc.constant(null),
  fc.array(fc.integer(), { maxLength: 2 }),
);
const text = fc.constantFrom(
  'plain',
  '{{steps.a.result.x}}',
  'x {{ steps["e-1"].result ?? "{{steps.b" }} y {{steps.b.result[0]}}',
  '{{steps.c',
  'return steps.a.result',
  'steps.a.result == 1 || steps["b"].result.n > 2',
);
const fields = fc.dictionary(fc.constantFrom('name', 'prompt', 'script', 'extra', '__proto__'), fc.oneof(json, text), {
  maxKeys: 3,
});
const type = fc.constantFrom('lua_script', 'condition', 'human_task');
const stepOf = (own: string, before: readonly string[]): fc.Arbitrary<Step> =>
  fc
    .record({
      type,
      fields,
      expression: fc.option(text, { nil: undefined }),
      depends_on: fc.option(fc.uniqueArray(fc.constantFrom(...(before.length > 0 ? before : ['x']))), {
        nil: undefined,
      }),
      then: fc.option(fc.uniqueArray(id, { maxLength: 2 }), { nil: undefined }),
    })
    .map(({ fields: data, ...rest }) => {
      const given = Object.entries({ ...rest, id: own }).filter(([, value]) => value !== undefined);
      return Object.fromEntries([...Object.entries(data), ...given]) as Step;
    });
const position = fc.record({ x: fc.integer(), y: fc.integer() });
const noteId = fc.constantFrom('n1', 'n2', '__proto__');
const noteOf = (own: string): fc.Arbitrary<Note> =>
  fc.record({ id: fc.constant(own), text: fc.constantFrom('one', 'two'), position });
const notes = fc.uniqueArray(noteId, { maxLength: 3 }).chain(ids => fc.tuple(...ids.map(noteOf)));
const output = fc.oneof(json, text, fc.dictionary(fc.constantFrom('total', '__proto__'), text, { maxKeys: 2 }));
const on_failure = fc.record({ workflow_id: fc.constantFrom('one', 'two') });
const input_schema = fc.dictionary(fc.constantFrom('type', 'required'), json, { maxKeys: 2 });
const draft: fc.Arbitrary<Draft> = fc.shuffledSubarray(IDS.slice(0, 5)).chain(ids =>
  fc.record({
    name: fc.constantFrom('n', 'm'),
    description: fc.constantFrom('', 'text'),
    graph: fc.record(
      {
        steps: fc.tuple(...ids.map((own, at) => stepOf(own, ids.slice(0, at)))),
        notes,
        output,
        input_schema,
        on_failure,
      },
      { requiredKeys: ['steps'] },
    ),
    run_setup: fc.dictionary(
      fc.constantFrom('trigger_payload', 'trigger_steps', 'use_as_default'),
      fc.dictionary(id, fc.dictionary(fc.string({ maxLength: 3 }), json, { maxKeys: 1 }), { maxKeys: 2 }),
    ),
  }),
);

const newStep = fc.oneof(id, fc.constantFrom('new', 'n-2')).chain(own => stepOf(own, ['a', 'b']));
const edit: fc.Arbitrary<Edit> = fc.oneof(
  fc.record({ type: fc.constant('add_step' as const), step: newStep, at: fc.option(fc.nat(5), { nil: undefined }) }),
  fc.record({
    type: fc.constant('update_step' as const),
    step: id,
    set: fc.option(fields, { nil: undefined }),
    unset: fc.option(fc.subarray(['name', 'prompt', 'depends_on', 'type']), { nil: undefined }),
  }),
  fc.record({ type: fc.constant('rename_step' as const), step: id, to: fc.constantFrom('new', 'n-2', 'a', 'f') }),
  fc.record({ type: fc.constant('remove_step' as const), step: id, heal: fc.boolean() }),
  fc.record({
    type: fc.constant('connect' as const),
    from: id,
    to: id,
    branch: fc.constantFrom(undefined, 'then' as const, 'else' as const),
  }),
  fc.record({ type: fc.constant('disconnect' as const), from: id, to: id }),
  fc.record({ type: fc.constant('insert_between' as const), from: id, to: id, step: newStep }),
  fc.record({
    type: fc.constant('move' as const),
    step: id,
    position: fc.option(position, { nil: null }),
  }),
  fc.record({ type: fc.constant('set_note' as const), note: noteId.chain(noteOf) }),
  fc.record({ type: fc.constant('remove_note' as const), note: noteId }),
  fc.record({
    type: fc.constant('set_run_setup' as const),
    run_setup: fc.dictionary(fc.constant('trigger_payload'), fields),
  }),
  fc.record({
    type: fc.constant('update_graph' as const),
    set: fc.option(fc.record({ output, input_schema, on_failure }, { requiredKeys: [] }), { nil: undefined }),
    unset: fc.option(fc.subarray([...GRAPH_FIELDS]), { nil: undefined }),
  }),
  fc.record({ type: fc.constant('set_details' as const), name: fc.constantFrom('n', 'other') }),
);

const applied = (to: Draft, change: Edit): Draft => {
  const result = apply(to, change);
  return result.ok ? result.draft : to;
};
const all = (to: Draft, changes: readonly Edit[]) => changes.reduce(applied, to);
/** Returns a draft as text, which includes the order of keys. */
const textOf = (value: Draft) => JSON.stringify(value);

describe('apply', () => {
  test('returns an inverse that restores the draft including the order of keys, and whose inverse repeats the edit', () => {
    fc.assert(
      fc.property(draft, edit, (before, change) => {
        const done = apply(before, change);
        if (!done.ok) return;
        const undone = apply(done.draft, done.inverse);
        if (!undone.ok) throw new Error(undone.problem.message);
        expect(textOf(undone.draft)).toBe(textOf(before));
        const again = apply(undone.draft, undone.inverse);
        if (!again.ok) throw new Error(again.problem.message);
        expect(textOf(again.draft)).toBe(textOf(done.draft));
      }),
      RUNS,
    );
  });

  test('undoes a history of edits one by one', () => {
    fc.assert(
      fc.property(draft, fc.array(edit, { maxLength: 8 }), (before, changes) => {
        let now = before;
        const inverses: Edit[] = [];
        for (const change of changes) {
          const done = apply(now, change);
          if (!done.ok) continue;
          now = done.draft;
          inverses.push(done.inverse);
        }
        expect(textOf(all(now, inverses.reverse()))).toBe(textOf(before));
      }),
      RUNS,
    );
  });

  test('never mutates its draft, and shares unchanged steps', () => {
    fc.assert(
      fc.property(draft, edit, (before, change) => {
        const was = textOf(before);
        const after = applied(before, change);
        expect(textOf(before)).toBe(was);
        const old = new Set<Step>(before.graph.steps);
        const unchanged = diff(before, after).steps.map(({ step }) => step);
        for (const step of after.graph.steps) {
          if (!unchanged.includes(step.id)) expect(old.has(step)).toBe(true);
        }
      }),
      RUNS,
    );
  });

  test('commutes for edits of different steps', () => {
    const update = (step: string) =>
      fc.record({ type: fc.constant('update_step' as const), step: fc.constant(step), set: fields });
    fc.assert(
      fc.property(
        draft,
        update('a'),
        fc.oneof(update('b'), fc.constant<Edit>({ type: 'move', step: 'b', position: null })),
        (before, one, other) => {
          expect(sameDraft(all(before, [one, other]), all(before, [other, one]))).toBe(true);
        },
      ),
      RUNS,
    );
  });
});

describe('diff', () => {
  test('is empty for equal drafts, and names each changed step', () => {
    fc.assert(
      fc.property(draft, fc.array(edit, { maxLength: 4 }), (before, changes) => {
        const after = all(before, changes);
        const found = diff(before, after);
        const { length } = [...found.steps, ...found.notes, ...found.graph, ...found.run_setup, ...found.details];
        const isEmpty = length === 0 && !found.reordered;
        expect(isEmpty).toBe(sameDraft(before, after));
        expect(diff(after, after)).toEqual(NO_CHANGES);
      }),
      RUNS,
    );
  });
});

describe('merge', () => {
  test('with one side unchanged is the other side', () => {
    fc.assert(
      fc.property(draft, fc.array(edit, { maxLength: 4 }), (base, changes) => {
        const changed = all(base, changes);
        for (const result of [merge(base, changed, base), merge(base, base, changed), merge(base, changed, changed)]) {
          if (!result.ok) throw new Error(JSON.stringify(result.conflicts));
          expect(textOf(result.draft)).toBe(textOf(changed));
        }
      }),
      RUNS,
    );
  });

  test('has each change of both sides in the result or in a conflict', () => {
    fc.assert(
      fc.property(draft, fc.array(edit, { maxLength: 3 }), fc.array(edit, { maxLength: 3 }), (base, left, right) => {
        const [ours, theirs] = [all(base, left), all(base, right)];
        const result = merge(base, ours, theirs);
        if (!result.ok) {
          expect(result.conflicts.length).toBeGreaterThan(0);
          return;
        }
        for (const side of [ours, theirs]) expectKept(base, side, result.draft);
      }),
      RUNS,
    );
  });

  test('has no conflict if all are decided for a side, which then wins', () => {
    fc.assert(
      fc.property(
        draft,
        fc.array(edit, { maxLength: 3 }),
        fc.array(edit, { maxLength: 3 }),
        fc.constantFrom('ours' as const, 'theirs' as const),
        (base, left, right, side) => {
          const [ours, theirs] = [all(base, left), all(base, right)];
          const result = merge(base, ours, theirs, () => side);
          if (!result.ok) throw new Error(JSON.stringify(result.conflicts));
          for (const { id } of result.draft.graph.steps) {
            expect([...ours.graph.steps, ...theirs.graph.steps].some(step => step.id === id)).toBe(true);
          }
        },
      ),
      RUNS,
    );
  });
});

describe('a proposal that is applied and undone', () => {
  const edits = fc.array(edit, { maxLength: 3 });

  test('leaves the original draft if there are no later edits', () => {
    fc.assert(
      fc.property(draft, edits, edits, (base, proposed, others) => {
        const before = all(base, others);
        const applied = merge(base, all(base, proposed), before);
        if (!applied.ok) return;
        const undone = merge(applied.draft, before, applied.draft);
        if (!undone.ok) throw new Error(JSON.stringify(undone.conflicts));
        expect(textOf(undone.draft)).toBe(textOf(before));
      }),
      RUNS,
    );
  });

  test('leaves exactly the later edits', () => {
    fc.assert(
      fc.property(draft, edits, edits, edits, (base, proposed, others, later) => {
        const before = all(base, others);
        const applied = merge(base, all(base, proposed), before);
        if (!applied.ok) return;
        const now = all(applied.draft, later);
        const undone = merge(applied.draft, before, now);
        if (!undone.ok) return;
        expectKept(applied.draft, before, undone.draft);
        expectKept(applied.draft, now, undone.draft);
      }),
      RUNS,
    );
  });
});

describe('choose', () => {
  test('returns the chosen changes only, without references to missing steps', () => {
    fc.assert(
      fc.property(draft, fc.array(edit, { maxLength: 5 }), fc.infiniteStream(fc.boolean()), (base, changes, coin) => {
        const after = all(base, changes);
        const steps = diff(base, after).steps.map(({ step }) => step);
        const chosen = steps.filter(() => coin.next().value);
        const result = choose(base, after, chosen);
        if (!result.ok) {
          expect(result.needed.length).toBeGreaterThan(0);
          return;
        }
        const [old, proposed] = [base, after].map(({ graph }) => new Map(graph.steps.map(step => [step.id, step])));
        const taken = new Map(result.draft.graph.steps.map(step => [step.id, step]));
        const ids = new Set([...(old?.keys() ?? []), ...(proposed?.keys() ?? [])]);
        for (const each of ids) expect(taken.get(each)).toBe((chosen.includes(each) ? proposed : old)?.get(each));
        for (const step of taken.values()) {
          const own = chosen.includes(step.id) ? proposed : old;
          const named = [step.depends_on, step.then, step.else].flat().filter(each => typeof each === 'string');
          expect(named.filter(each => own?.has(each) && !taken.has(each))).toEqual([]);
        }
      }),
      RUNS,
    );
  });

  test('of all changed steps returns the steps of the draft', () => {
    fc.assert(
      fc.property(draft, fc.array(edit, { maxLength: 5 }), (base, changes) => {
        const after = all(base, changes);
        const result = choose(
          base,
          after,
          diff(base, after).steps.map(({ step }) => step),
        );
        if (!result.ok) throw new Error(JSON.stringify(result.needed));
        const byId = ({ graph }: Draft) => graph.steps.toSorted((a, b) => (a.id < b.id ? -1 : 1));
        expect(byId(result.draft)).toEqual(byId(after));
      }),
      RUNS,
    );
  });
});

/** Expects that `merged` has each change from `base` to `side`. Lists of ids must contain at least the added ids. */
function expectKept(base: Draft, side: Draft, merged: Draft): void {
  for (const { field, after } of diff(base, side).notes) {
    expect(merged.graph.notes?.find(({ id }) => id === field)).toEqual(after);
  }
  for (const { field, after } of diff(base, side).graph) expect(graphFields(merged.graph)[field]).toEqual(after);
  const result = new Map(merged.graph.steps.map(step => [step.id, step]));
  for (const change of diff(base, side).steps) {
    const step = result.get(change.step);
    if (change.change === 'removed') expect(step).toBeUndefined();
    else if (change.change === 'added') expect(step).toBeDefined();
    else {
      for (const { field, before, after } of change.fields) {
        const value = step !== undefined && Object.hasOwn(step, field) ? step[field] : undefined;
        if (!Array.isArray(after) || !['depends_on', 'then', 'else'].includes(field)) {
          if (Array.isArray(before) && after === undefined) continue;
          expect(value).toEqual(after);
          continue;
        }
        const added = after.filter(item => !Array.isArray(before) || !before.includes(item));
        expect(value).toEqual(expect.arrayContaining(added));
      }
    }
  }
}
