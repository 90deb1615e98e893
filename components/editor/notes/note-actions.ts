import { isObject } from '@/server/platform/json.ts';
import type { Draft, Edit, Note } from '../../../server/domains/workflows/edits/index.ts';
import { nodeSize, type Point } from '../../graph/layout.ts';
import { freeId, type Places } from '../editor-actions.ts';

/** The colors of a note; the first is that of one without. */
export const NOTE_COLORS = ['yellow', 'blue', 'green', 'red', 'gray'] as const;
export type NoteColor = (typeof NOTE_COLORS)[number];
/** The most notes of a graph, as the API limits them. */
export const MAX_NOTES = 200;
export const MAX_NOTE_CHARACTERS = 10_000;
export type Size = { width: number; height: number };
export const MIN_NOTE: Size = { width: 80, height: 40 };
export const MAX_NOTE: Size = { width: 2_000, height: 2_000 };

/** A note as the canvas draws it, whatever the draft says of it. */
export type DrawnNote = Size & { id: string; text: string; color: NoteColor; position: Point };

const GAP = 32;

/** The id of a note's node on the canvas. No step has it: ids of steps have no colon. */
export const noteNodeId = (note: string): string => `note:${note}`;
/** Returns the note of a node on the canvas; null for the node of a step. */
export const noteOfNode = (node: string): string | null => (node.startsWith('note:') ? node.slice(5) : null);

/** The notes of a draft; null where it holds something else there. */
function notesOf({ graph }: Draft): readonly Note[] | null {
  const notes: unknown = graph.notes ?? [];
  return Array.isArray(notes) && notes.every(isObject) ? (notes as readonly object[] as readonly Note[]) : null;
}

/** Returns the notes of a draft that can be drawn: JSON that somebody types may hold anything there. */
export function drawnNotes({ graph }: Draft): DrawnNote[] {
  const notes: unknown = graph.notes;
  if (!Array.isArray(notes)) return [];
  const drawn = notes.flatMap(note => toDrawn(note) ?? []);
  return [...new Map(drawn.map(note => [note.id, note])).values()];
}

function toDrawn(note: unknown): DrawnNote | null {
  if (!isObject(note) || typeof note.id !== 'string' || typeof note.text !== 'string') return null;
  const { id, text, position } = note;
  if (!isObject(position) || !isNumber(position.x) || !isNumber(position.y)) return null;
  const side = (name: keyof Size, otherwise: number) => {
    const length = note[name];
    return isNumber(length) ? Math.min(MAX_NOTE[name], Math.max(MIN_NOTE[name], length)) : otherwise;
  };
  const color = NOTE_COLORS.find(each => each === note.color) ?? NOTE_COLORS[0];
  return {
    id,
    text,
    color,
    position: { x: position.x, y: position.y },
    width: side('width', 240),
    height: side('height', 120),
  };
}

const isNumber = (value: unknown): value is number => Number.isFinite(value);

/** Plans an empty note right of a step, or (null) of the whole graph, where no other note is. Returns null if no more notes fit in. */
export function planNote(draft: Draft, beside: string | null, places: Places): { edit: Edit; id: string } | null {
  const present = notesOf(draft);
  if (present === null || present.length >= MAX_NOTES) return null;
  const notes = drawnNotes(draft);
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

/** Plans the change of some fields of a note; nothing where the draft has no such note. */
export function planNoteChange(draft: Draft, id: string, fields: Partial<Omit<Note, 'id'>>): Edit[] {
  const note = notesOf(draft)?.find(each => each.id === id);
  return note === undefined ? [] : [{ type: 'set_note', note: { ...note, ...fields } as Note }];
}

/** Plans what dragging notes does. `moved` has the nodes of the canvas, of which the steps are left out. */
export function planNoteMoves(draft: Draft, moved: Places): Edit[] {
  return [...moved].flatMap(([node, { x, y }]) => {
    const note = noteOfNode(node);
    return note === null ? [] : planNoteChange(draft, note, { position: { x: Math.round(x), y: Math.round(y) } });
  });
}
