'use client';
import { useCallback, useMemo, useState } from 'react';
import { type GraphStepInput, innerStepsOf } from './layout.ts';

/** The most steps of a graph, with those in loops, whose loops are open at first. */
const MAX_OPEN_AT_FIRST = 40;

/** Whether the loops of a graph are open until a person closes them. */
export const opensAtFirst = (steps: readonly GraphStepInput[]): boolean =>
  steps.reduce((sum, step) => sum + 1 + (innerStepsOf(step) ?? 0), 0) <= MAX_OPEN_AT_FIRST;

/** The loops of a graph that are drawn with their steps. */
export type OpenedLoops = { isOpen: (node: string) => boolean; toggle: (node: string, open: boolean) => void };

/** Returns which loops of a graph that is only looked at are open, for as long as it is shown. */
export function useOpenedLoops(steps: readonly GraphStepInput[]): OpenedLoops {
  const [chosen, setChosen] = useState<Readonly<Record<string, boolean>>>({});
  const atFirst = useMemo(() => opensAtFirst(steps), [steps]);
  const isOpen = useCallback((node: string) => chosen[node] ?? atFirst, [chosen, atFirst]);
  const toggle = useCallback((node: string, open: boolean) => setChosen(before => ({ ...before, [node]: open })), []);
  return useMemo(() => ({ isOpen, toggle }), [isOpen, toggle]);
}
