import { describe, expect, test } from 'vitest';
import { apply, type Draft, type Edit, type Note } from '../../../server/domains/workflows/edits/index.ts';
import { noteNodeId } from '../../graph/notes.ts';
import { MAX_NOTES, planNote, planNoteChange, planNoteMoves } from './note-actions.ts';

const note = (id: string, fields: object = {}): Note => ({ id, text: 'Why', position: { x: 0, y: 0 }, ...fields });
const draftOf = (...notes: Note[]): Draft => ({
  name: 'n',
  description: '',
  graph: { steps: [{ id: 'a', type: 'lua_script' }], notes },
  run_setup: {},
});
function applied(draft: Draft, edits: readonly Edit[]): Draft {
  return edits.reduce((present, edit) => {
    const result = apply(present, edit);
    if (!result.ok) throw new Error(result.problem.message);
    return result.draft;
  }, draft);
}
const places = new Map([
  ['a', { x: 100, y: 50 }],
  ['b', { x: 500, y: 300 }],
]);

describe('a new note', () => {
  test('is right of the step, or of the graph, and lies on no other', () => {
    let draft = draftOf();
    for (const [beside, position] of [
      ['a', { x: 352, y: 50 }],
      [null, { x: 752, y: 50 }],
      ['a', { x: 352, y: 186 }],
      ['gone', { x: 752, y: 186 }],
    ] as const) {
      const plan = planNote(draft, beside, places);
      draft = applied(draft, plan === null ? [] : [plan.edit]);
      expect(draft.graph.notes?.at(-1)).toMatchObject({ id: plan?.id, text: '', position });
    }
    expect(draft.graph.notes?.map(({ id }) => id)).toEqual(['note', 'note_2', 'note_3', 'note_4']);
    expect(planNote(draftOf(), null, new Map())?.edit).toMatchObject({ note: { position: { x: 0, y: 0 } } });
  });

  test('is refused beyond the limit', () => {
    const notes = (count: number) =>
      Array.from({ length: count }, (_, at) => note(`n${at}`, { position: { x: 0, y: 0 } }));
    expect(planNote(draftOf(...notes(MAX_NOTES - 1)), null, places)).not.toBeNull();
    expect(planNote(draftOf(...notes(MAX_NOTES)), null, places)).toBeNull();
    expect(planNote(draftOf(null as unknown as Note), null, places)).toBeNull();
  });
});

test('a note is changed and moved, and keeps its other fields', () => {
  const draft = draftOf(note('n', { color: 'red', width: 300 }), note('m'));
  const changed = applied(draft, planNoteChange(draft, 'n', { text: 'Because' }));
  const moved = applied(
    changed,
    planNoteMoves(
      changed,
      new Map([
        [noteNodeId('n'), { x: 10.4, y: -3.6 }],
        ['a', { x: 5, y: 5 }],
      ]),
    ),
  );
  expect(moved.graph.notes).toEqual([
    { id: 'n', text: 'Because', position: { x: 10, y: -4 }, color: 'red', width: 300 },
    note('m'),
  ]);
  expect(moved.graph.steps).toBe(draft.graph.steps);
  expect(planNoteChange(draft, 'gone', { text: 'x' })).toEqual([]);
});
