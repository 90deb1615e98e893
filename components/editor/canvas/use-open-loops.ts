'use client';
import { useCallback, useDeferredValue, useMemo, useState } from 'react';
import type { GraphStepInput } from '../../graph/layout.ts';
import { type Levels, nodeIn, sameStructure } from '../../graph/levels.ts';
import { opensAtFirst } from '../../graph/use-opened-loops.ts';
import { keepOpenLoops, type OpenLoops, readOpenLoops } from './open-loops.ts';

/** Which loops are open; `path` is that of the loop whose steps are the canvas's own. */
export function useOpenLoops(workflow: string, path: readonly string[], steps: readonly GraphStepInput[]) {
  const [open, setOpen] = useState<OpenLoops>(() => readOpenLoops(workflow));
  const isSmall = useMemo(() => opensAtFirst(steps), [steps]);
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

/**
 * Returns the levels with the texts of their steps a moment late while somebody types in one of them: the letters appear in the form first,
 * and the graph follows when the browser has time. Steps, connections and places are never late.
 */
export function useLateTexts(levels: Levels): Levels {
  const late = useDeferredValue(levels);
  return sameStructure(late, levels) ? late : levels;
}
