'use client';
import { useEffect, useMemo, useRef, useState } from 'react';
import {
  edgesOf,
  type GraphEdge,
  type GraphStepInput,
  layout,
  layoutByRank,
  nodeSize,
  ROW_GAP,
  structureKey,
  takesLong,
} from '../../graph/layout.ts';
import { layOutInWorker } from '../../graph/worker-layout.ts';
import type { Places } from '../editor-actions.ts';

export type Drawing = {
  steps: readonly GraphStepInput[];
  edges: readonly GraphEdge[];
  places: Places;
  /** False until the first layout is complete. Until then the places are rough, and nothing is drawn. */
  isLaidOut: boolean;
};
/** The input of a layout, and its places. If the layout takes long, the places are rough, and a worker computes the final places. */
type Structure = Pick<Drawing, 'steps' | 'edges' | 'places'> & { key: string; takesLong: boolean };

/**
 * Returns the positions of the steps of a draft. The layout takes 200 ms for 300 steps, so it is computed again only if steps, connections
 * or places change, not while the user types a name or a script. A layout that takes long runs in a worker; until it completes, steps that
 * are already drawn keep their positions.
 */
export function useLayout(steps: readonly GraphStepInput[]): Drawing {
  const unique = useMemo(() => [...new Map(steps.map(step => [step.id, step])).values()], [steps]);
  const key = useMemo(() => structureKey(unique), [unique]);
  const last = useRef<Structure | null>(null);
  const drawn = useRef<Places | null>(null);
  if (last.current?.key !== key) last.current = structureOf(key, unique, drawn.current);
  const structure = last.current;
  const late = useLatePlaces(structure);
  const { edges } = structure;
  const places = late ?? structure.places;
  const isLaidOut = drawn.current !== null || late !== null || !structure.takesLong;
  if (isLaidOut) drawn.current = places;
  return useMemo(() => ({ steps: unique, edges, places, isLaidOut }), [unique, edges, places, isLaidOut]);
}

function structureOf(key: string, steps: readonly GraphStepInput[], drawn: Places | null): Structure {
  const edges = edgesOf(steps);
  if (!takesLong(steps)) return { key, steps, edges, places: layout(steps, edges), takesLong: false };
  return { key, steps, edges, places: roughPlaces(steps, edges, drawn), takesLong: true };
}

/** Returns the places that a worker computes; null until it is done, and if no worker is needed. */
function useLatePlaces(structure: Structure): Places | null {
  const [late, setLate] = useState<{ structure: Structure; places: Places } | null>(null);
  useEffect(() => {
    if (!structure.takesLong) return;
    return layOutInWorker(structure.steps, structure.edges, places => setLate({ structure, places }));
  }, [structure]);
  return late?.structure === structure ? late.places : null;
}

/** Returns places without a layout: drawn steps keep their position, new steps are placed below a step that they depend on. */
function roughPlaces(steps: readonly GraphStepInput[], edges: readonly GraphEdge[], drawn: Places | null): Places {
  const ranked = layoutByRank(steps, edges);
  if (drawn === null) return ranked;
  const rough = new Map(ranked);
  for (const { id } of steps) {
    const before = edges.find(({ to, from }) => to === id && drawn.has(from));
    const above = before && drawn.get(before.from);
    const place = drawn.get(id) ?? (above && { x: above.x, y: above.y + nodeSize.height + ROW_GAP });
    if (place !== undefined) rough.set(id, place);
  }
  return rough;
}
