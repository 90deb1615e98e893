import { type GraphEdge, type GraphStepInput, layout, type Point } from './layout.ts';

export type LayoutRequest = { number: number; steps: readonly GraphStepInput[]; edges: readonly GraphEdge[] };
export type LayoutAnswer = { number: number; places: ReadonlyMap<string, Point> };

/** Runs in a worker: lays out the graphs that the page sends, one after the other. */
addEventListener('message', ({ data: { number, steps, edges } }: MessageEvent<LayoutRequest>) => {
  postMessage({ number, places: layout(steps, edges) } satisfies LayoutAnswer);
});
