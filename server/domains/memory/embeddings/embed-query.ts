import type { Services } from '../../../operation/services.ts';
import type { MemoryScope, Narrowing } from '../scope.ts';
import { bitsOf, cosine, minCosine } from './quantize.ts';
import { findNearest, readSettings } from './store.ts';

/** The maximum time that a search waits for its embedding. The other signals take much less. */
const QUERY_TIMEOUT_MS = 2_000;
/** The time after a failure in which searches do not ask the model again, so that not every search waits. */
const PAUSE_MS = 30_000;
/** The maximum number of candidates by signs, which are then compared exactly. */
const MAX_NEAREST = 200;
/** The maximum number of hits after the exact comparison. */
const MAX_HITS = 60;

/** An id that no project has. It restricts requests to keys of the workspace, because a project's own key must not pay for others. */
export const SHARED_KEYS = '00000000-0000-0000-0000-000000000000';

type SearchServices = Pick<Services, 'pool' | 'clock' | 'embed'>;
export type VectorSearch = { narrowing: Narrowing; items: boolean; chunks: boolean };
/** The hits of a vector search. `degraded`: the workspace has a model, but the model or some embeddings were unavailable. */
export type VectorHits = {
  configured: boolean;
  degraded: boolean;
  hits: { id: string; is_item: boolean; score: number }[];
  /** The embedding of the query, and the space in which it may be compared. */
  asked?: { vector: readonly number[]; space: string };
};

const NOT_CONFIGURED: VectorHits = { configured: false, degraded: false, hits: [] };
const UNAVAILABLE: VectorHits = { configured: true, degraded: true, hits: [] };

/** The time until which each workspace searches without vectors. Each port has its own map, because containers share no state. */
const pauses = new WeakMap<Services['embed'], Map<string, number>>();
const pausesOf = ({ embed }: SearchServices): Map<string, number> => {
  const known = pauses.get(embed) ?? new Map<string, number>();
  pauses.set(embed, known);
  return known;
};

/** Returns the memories that are nearest in meaning to a text, best first. A failing or slow model is reported as `degraded`. */
export async function searchByMeaning(
  services: SearchServices,
  scope: MemoryScope,
  text: string,
  { narrowing, items, chunks }: VectorSearch,
): Promise<VectorHits> {
  const settings = await readSettings(services.pool, scope.tenantId);
  if (settings === null) return NOT_CONFIGURED;
  const vector = await embedQuery(services, scope.tenantId, settings.model, text);
  // A different dimension means that the provider has changed the model, so the vectors cannot be compared.
  if (vector?.length !== settings.dimensions) return UNAVAILABLE;
  const near = await findNearest(services.pool, scope, {
    space: settings.space,
    bits: bitsOf(vector),
    narrowing,
    items,
    chunks,
    limit: MAX_NEAREST,
  });
  const minimum = minCosine(settings.dimensions);
  const hits = near
    .map(({ id, is_item, codes }) => ({ id, is_item, score: cosine(vector, codes) }))
    .filter(({ score }) => score >= minimum);
  hits.sort((a, b) => b.score - a.score || (a.id < b.id ? 1 : -1));
  const asked = { vector, space: settings.space };
  return { configured: true, degraded: !settings.ready, hits: hits.slice(0, MAX_HITS), asked };
}

async function embedQuery(
  services: SearchServices,
  tenantId: string,
  model: string,
  text: string,
): Promise<readonly number[] | undefined> {
  const paused = pausesOf(services);
  if ((paused.get(tenantId) ?? 0) > services.clock.now()) return undefined;
  const request = { tenantId, projectId: SHARED_KEYS, model, texts: [text] };
  const answer = await services.embed(request, AbortSignal.timeout(QUERY_TIMEOUT_MS));
  if (answer.kind === 'vectors') return answer.vectors[0];
  paused.set(tenantId, services.clock.now() + PAUSE_MS);
  return undefined;
}

/** Ends the pause after a failure, because the model was just set. */
export function endPause(services: SearchServices, tenantId: string): void {
  pausesOf(services).delete(tenantId);
}
