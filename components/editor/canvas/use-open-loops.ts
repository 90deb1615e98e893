'use client';
import { useCallback, useDeferredValue, useMemo, useState } from 'react';
import type { GraphStepInput } from '../../graph/layout.ts';
import { type Levels, nodeIn, sameStructure } from '../../graph/levels.ts';
import { opensAtFirst } from '../../graph/use-opened-loops.ts';
import { keepOpenLoops, type OpenLoops, readOpenLoops } from './open-loops.ts';

/** Returns whether each loop is expanded, and a setter. `path`: the path of the loop whose steps are on the canvas. */
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
 * Returns the levels, with deferred step texts while the user types in a step: the form is updated first, and the graph
 * when the browser is idle. Steps, connections and places are never deferred.
 */
export function useLateTexts(levels: Levels): Levels {
  const late = useDeferredValue(levels);
  return sameStructure(late, levels) ? late : levels;
}
