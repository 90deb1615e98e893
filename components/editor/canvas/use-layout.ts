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
  /** False until a graph that opens has been laid out: its places are rough, and nothing is drawn there. */
  isLaidOut: boolean;
};
/** The input of a layout, and its places. Where it takes long, they are rough, and a worker gives the final ones. */
type Structure = Pick<Drawing, 'steps' | 'edges' | 'places'> & { key: string; takesLong: boolean };

/**
 * Where the steps of a draft are drawn. Typing a name or a script changes nothing here: the layout, which takes 200 ms for
 * 300 steps, is made again only where steps, connections or places have changed. A layout that takes long is made in a
 * worker; until then, steps that were drawn stay where they are.
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

/** Returns the places that a worker gives the steps; null until it does, and where none is needed. */
function useLatePlaces(structure: Structure): Places | null {
  const [late, setLate] = useState<{ of: Structure; places: Places } | null>(null);
  useEffect(() => {
    if (!structure.takesLong) return;
    return layOutInWorker(structure.steps, structure.edges, places => setLate({ of: structure, places }));
  }, [structure]);
  return late?.of === structure ? late.places : null;
}

/** Returns places without a layout: where the steps are drawn now; new ones below a step that they depend on. */
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
