import { isObject } from '@/server/platform/json.ts';
import type { Point } from './layout.ts';

/** The colors of notes; the first is the default. */
export const NOTE_COLORS = ['yellow', 'blue', 'green', 'red', 'gray'] as const;
export type NoteColor = (typeof NOTE_COLORS)[number];
export type Size = { width: number; height: number };
export const MIN_NOTE: Size = { width: 80, height: 40 };
export const MAX_NOTE: Size = { width: 2_000, height: 2_000 };

/** A note to be drawn, with defaults for a missing or invalid size and color. */
export type DrawnNote = Size & { id: string; text: string; color: NoteColor; position: Point };

/** Returns the id of a note's node. It has a colon, so it differs from the ids of steps. */
export const noteNodeId = (note: string): string => `note:${note}`;
/** Returns the id of a node's note; null for the node of a step. */
export const noteOfNode = (node: string): string | null => (node.startsWith('note:') ? node.slice(5) : null);

/** Returns the valid notes of a graph. In a draft that is edited as JSON, `notes` may be any value. */
export function drawnNotes({ notes }: { readonly notes?: unknown }): DrawnNote[] {
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
