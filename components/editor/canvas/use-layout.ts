'use client';
import { useMemo, useRef } from 'react';
import { edgesOf, type GraphEdge, type GraphStepInput, layout } from '../../graph/layout.ts';
import type { Places } from '../editor-actions.ts';

export type Drawing = { steps: readonly GraphStepInput[]; edges: readonly GraphEdge[]; places: Places };

/**
 * Where the steps of a draft are drawn. Typing a name or a script changes nothing here: the layout, which takes 200 ms for
 * 300 steps, is made again only where steps, connections or places have changed.
 */
export function useLayout(steps: readonly GraphStepInput[]): Drawing {
  const unique = useMemo(() => [...new Map(steps.map(step => [step.id, step])).values()], [steps]);
  const key = useMemo(
    () =>
      JSON.stringify(
        unique.map(step => [step.id, step.depends_on ?? 0, step.then ?? 0, step.else ?? 0, step.position ?? 0]),
      ),
    [unique],
  );
  const last = useRef<{ key: string; drawing: Pick<Drawing, 'edges' | 'places'> } | null>(null);
  if (last.current?.key !== key) {
    const edges = edgesOf(unique);
    last.current = { key, drawing: { edges, places: layout(unique, edges) } };
  }
  const { drawing } = last.current;
  return useMemo(() => ({ steps: unique, ...drawing }), [unique, drawing]);
}
