'use client';
import { useCallback, useDeferredValue, useMemo, useRef, useState } from 'react';
import { type GraphStepInput, innerStepsOf } from '../../graph/layout.ts';
import { type DrawnNote, noteNodeId } from '../../graph/notes.ts';
import { type LevelCache, type Levels, levelsOf, nodeIn, sameStructure } from './levels.ts';
import { keepOpenLoops, type OpenLoops, readOpenLoops } from './open-loops.ts';
import type { Drawing } from './use-layout.ts';

/** The most steps of a draft, with those in loops, whose loops are open at first. */
const MAX_OPEN_AT_FIRST = 40;

/** Which loops are open; `path` is that of the loop whose steps are the canvas's own. */
export function useOpenLoops(workflow: string, path: readonly string[], steps: readonly GraphStepInput[]) {
  const [open, setOpen] = useState<OpenLoops>(() => readOpenLoops(workflow));
  const isSmall = useMemo(
    () => steps.reduce((sum, step) => sum + 1 + (innerStepsOf(step) ?? 0), 0) <= MAX_OPEN_AT_FIRST,
    [steps],
  );
  const around = path.join('.');
  const isOpen = useCallback((node: string) => open[nodeIn(around, node)] ?? isSmall, [open, around, isSmall]);
  const setLoop = useCallback(
    (node: string, next: boolean) =>
      setOpen(before => {
        const { [nodeIn(around, node)]: _, ...others } = before;
        const after = { ...others, [nodeIn(around, node)]: next };
        keepOpenLoops(workflow, after);
        return after;
      }),
    [workflow, around],
  );
  return { isOpen, setLoop };
}

/** Returns the levels of the canvas: its own steps and notes, and the steps of the loops that are open. */
export function useLevels(drawing: Drawing, notes: readonly DrawnNote[], isOpen: (node: string) => boolean): Levels {
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

/**
 * Returns the levels with the texts of their steps a moment late while somebody types in one of them: the letters appear in the form first,
 * and the graph follows when the browser has time. Steps, connections and places are never late.
 */
export function useLateTexts(levels: Levels): Levels {
  const late = useDeferredValue(levels);
  return sameStructure(late, levels) ? late : levels;
}
