'use client';
import { useEffect, useMemo, useRef, useState } from 'react';
import { type GraphEdge, type GraphStepInput, layout, type Point, takesLong } from './layout.ts';
import { layOutInWorker } from './worker-layout.ts';

export type LaidOut = {
  steps: readonly GraphStepInput[];
  edges: readonly GraphEdge[];
  places: ReadonlyMap<string, Point>;
};

/**
 * Returns a graph with the places of its steps. While a worker lays the graph out, the hook returns the previous graph, or null if
 * there is none. New `steps` or `edges` (by identity) mean a new graph.
 */
export function useLaidOut(steps: readonly GraphStepInput[], edges: readonly GraphEdge[]): LaidOut | null {
  const isSlow = takesLong(steps);
  const atOnce = useMemo(
    () => (isSlow ? null : { steps, edges, places: layout(steps, edges) }),
    [isSlow, steps, edges],
  );
  const [late, setLate] = useState<LaidOut | null>(null);
  useEffect(() => {
    if (!isSlow) return;
    return layOutInWorker(steps, edges, places => setLate({ steps, edges, places }));
  }, [isSlow, steps, edges]);
  const shown = useRef<LaidOut | null>(null);
  if (atOnce !== null) shown.current = atOnce;
  else if (late?.edges === edges) shown.current = late;
  return shown.current;
}
