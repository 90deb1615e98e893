'use client';
import { useCallback, useMemo, useState } from 'react';
import { type GraphStepInput, innerStepsOf } from './layout.ts';

/** The maximum number of steps, including steps in loops, of a graph whose loops are open at first. */
const MAX_OPEN_AT_FIRST = 40;

/** Returns whether the loops of a graph are open until the user closes them. */
export const opensAtFirst = (steps: readonly GraphStepInput[]): boolean =>
  steps.reduce((sum, step) => sum + 1 + (innerStepsOf(step) ?? 0), 0) <= MAX_OPEN_AT_FIRST;

/** The loops of a graph that are drawn with their steps. */
export type OpenedLoops = { isOpen: (node: string) => boolean; toggle: (node: string, open: boolean) => void };

/** Returns the open loops of a read-only graph. The user's choices last while the graph is shown. */
export function useOpenedLoops(steps: readonly GraphStepInput[]): OpenedLoops {
  const [chosen, setChosen] = useState<Readonly<Record<string, boolean>>>({});
  const atFirst = useMemo(() => opensAtFirst(steps), [steps]);
  const isOpen = useCallback((node: string) => chosen[node] ?? atFirst, [chosen, atFirst]);
  const toggle = useCallback((node: string, open: boolean) => setChosen(before => ({ ...before, [node]: open })), []);
  return useMemo(() => ({ isOpen, toggle }), [isOpen, toggle]);
}
