import { isObject } from '@/server/platform/json.ts';
import type { Draft, Edit, Note } from '../../../server/domains/workflows/edits/index.ts';
import { nodeSize, type Point } from '../../graph/layout.ts';
import { type DrawnNote, drawnNotes, noteOfNode, type Size } from '../../graph/notes.ts';
import { freeId, type Places } from '../editor-actions.ts';

/** The API's limit for the notes of a graph. */
export const MAX_NOTES = 200;
export const MAX_NOTE_CHARACTERS = 10_000;

const GAP = 32;

/** Returns the notes of a draft, or null if `notes` is not a list of objects. */
function notesOf({ graph }: Draft): readonly Note[] | null {
  const notes: unknown = graph.notes ?? [];
  return Array.isArray(notes) && notes.every(isObject) ? (notes as readonly object[] as readonly Note[]) : null;
}

/**
 * Plans an empty note to the right of the step `beside`, or of the whole graph if `beside` is null. The note does not overlap others.
 * Returns null if the graph has the maximum number of notes.
 */
export function planNote(draft: Draft, beside: string | null, places: Places): { edit: Edit; id: string } | null {
  const present = notesOf(draft);
  if (present === null || present.length >= MAX_NOTES) return null;
  const notes = drawnNotes(draft.graph);
  const id = freeId(new Set(present.map(note => note.id)), 'note');
  const all = [...places.values()];
  const place = (beside === null ? undefined : places.get(beside)) ?? {
    x: all.length === 0 ? 0 : Math.max(...all.map(({ x }) => x)),
    y: all.length === 0 ? 0 : Math.min(...all.map(({ y }) => y)),
  };
  const position = { x: place.x + (all.length === 0 ? 0 : nodeSize.width + GAP), y: place.y };
  const size: Size = { width: 240, height: 120 };
  for (let other = overlapped(notes, position, size); other !== undefined; other = overlapped(notes, position, size)) {
    position.y = other.position.y + other.height + GAP / 2;
  }
  return { edit: { type: 'set_note', note: { id, text: '', position, ...size } }, id };
}

const overlapped = (notes: readonly DrawnNote[], { x, y }: Point, { width, height }: Size): DrawnNote | undefined =>
  notes.find(
    ({ position, ...other }) =>
      x < position.x + other.width &&
      position.x < x + width &&
      y < position.y + other.height &&
      position.y < y + height,
  );

/** Plans a change of some fields of a note. Returns no edits if the draft does not contain the note. */
export function planNoteChange(draft: Draft, id: string, fields: Partial<Omit<Note, 'id'>>): Edit[] {
  const note = notesOf(draft)?.find(each => each.id === id);
  return note === undefined ? [] : [{ type: 'set_note', note: { ...note, ...fields } as Note }];
}

/** Plans the new positions of dragged notes. `moved` holds all dragged nodes of the canvas; steps are ignored. */
export function planNoteMoves(draft: Draft, moved: Places): Edit[] {
  return [...moved].flatMap(([node, { x, y }]) => {
    const note = noteOfNode(node);
    return note === null ? [] : planNoteChange(draft, note, { position: { x: Math.round(x), y: Math.round(y) } });
  });
}
