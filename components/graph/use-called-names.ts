'use client';
import { useMemo } from 'react';
import { kindsCalled } from './called-names.ts';
import type { GraphStepInput } from './layout.ts';
import { useNamed } from './use-named.ts';

/** Names by ids. */
export type CalledNames = ReadonlyMap<string, string>;

/** Returns the names of the workflows and agents that the steps of a graph call, by id. */
export function useCalledNames(steps: readonly GraphStepInput[]): CalledNames {
  const named = useNamed(useMemo(() => kindsCalled(steps), [steps]));
  return useMemo(() => new Map(named.map(({ id, name }) => [id, name])), [named]);
}
