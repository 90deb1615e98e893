import { type GraphEdge, type GraphStepInput, layout, type Point } from './layout.ts';
import type { LayoutAnswer, LayoutRequest } from './layout-worker.ts';

type Places = ReadonlyMap<string, Point>;
type Pending = { request: LayoutRequest; onPlaces: (places: Places) => void };

let worker: Worker | null = null;
let requests = 0;
const pending = new Map<number, Pending>();

/** Returns the layout worker of this page. The first graph starts the worker. */
function startWorker(): Worker {
  if (worker !== null) return worker;
  const created = new Worker(new URL('./layout-worker.ts', import.meta.url), { type: 'module' });
  created.onmessage = ({ data: { number, places } }: MessageEvent<LayoutAnswer>) => {
    pending.get(number)?.onPlaces(places);
    pending.delete(number);
  };
  created.onerror = layOutHere;
  worker = created;
  return created;
}

/** Lays out on the page if workers cannot start. That is slow, but the graph is drawn. */
function layOutHere(): void {
  const waiting = [...pending.values()];
  pending.clear();
  for (const { request, onPlaces } of waiting) onPlaces(layout(request.steps, request.edges));
}

/**
 * Lays out a graph in a worker, and calls `onPlaces` with the places of its steps. Returns a function that cancels the request;
 * `onPlaces` is then not called.
 */
export function layOutInWorker(
  steps: readonly GraphStepInput[],
  edges: readonly GraphEdge[],
  onPlaces: (places: Places) => void,
): () => void {
  requests += 1;
  const number = requests;
  // Scripts and schemas do not matter for the layout, and may be large.
  const request = { number, steps: steps.map(toSent), edges };
  pending.set(number, { request, onPlaces });
  startWorker().postMessage(request);
  return () => void pending.delete(number);
}

const toSent = ({ id, type, position }: GraphStepInput): GraphStepInput => ({ id, type, position });
