'use client';
import { useMemo, useRef } from 'react';
import type { Drawn } from './layout.ts';
import { type LevelCache, type Levels, levelsOf } from './levels.ts';
import { type DrawnNote, noteNodeId } from './notes.ts';

/** Returns the levels of the canvas: its own steps and notes, and the steps of the loops that are open. */
export function useLevels(drawing: Drawn, notes: readonly DrawnNote[], isOpen: (node: string) => boolean): Levels {
  const cache = useRef<LevelCache>(new Map());
  const { steps, edges } = drawing;
  const places = useMemo(
    () => new Map([...drawing.places, ...notes.map(note => [noteNodeId(note.id), note.position] as const)]),
    [drawing.places, notes],
  );
  const last = useRef<Levels>([]);
  const levels = useMemo(
    () => levelsOf({ steps, edges, places }, isOpen, cache.current),
    [steps, edges, places, isOpen],
  );
  const isSame = levels.length === last.current.length && levels.every((level, at) => level === last.current[at]);
  if (!isSame) last.current = levels;
  return last.current;
}
