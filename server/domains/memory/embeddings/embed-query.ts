import type { Services } from '../../../operation/services.ts';
import type { MemoryScope, Narrowing } from '../scope.ts';
import { bitsOf, cosine, minCosine } from './quantize.ts';
import { findNearest, readSettings } from './store.ts';

/** A search waits no longer for its embedding: the other signals have answered long before. */
const QUERY_TIMEOUT_MS = 2_000;
/** After a failure searches do without for so long: each would wait for the same. */
const PAUSE_MS = 30_000;
/** The nearest by their signs, which are then compared exactly. */
const NEAREST = 200;
/** The most hits that a search returns: the best by the exact comparison. */
const BEST = 60;

/** Keys of the whole workspace alone: no project has this id. A project's own key is not to be spent by the others. */
export const SHARED_KEYS = '00000000-0000-0000-0000-000000000000';

type SearchServices = Pick<Services, 'pool' | 'clock' | 'embed'>;
export type VectorSearch = { narrowing: Narrowing; items: boolean; chunks: boolean };
/** `degraded`: the workspace has a model, and it or a part of its embeddings was not there. */
export type VectorHits = {
  configured: boolean;
  degraded: boolean;
  hits: { id: string; is_item: boolean; score: number }[];
  /** The embedding of the query, and the space in which it may be compared. */
  asked?: { vector: readonly number[]; space: string };
};

const NONE: VectorHits = { configured: false, degraded: false, hits: [] };
const WITHOUT: VectorHits = { configured: true, degraded: true, hits: [] };

/** Until when each workspace searches without vectors. One map for each port: containers of a process share nothing. */
const pauses = new WeakMap<Services['embed'], Map<string, number>>();
const pausesOf = ({ embed }: SearchServices): Map<string, number> => {
  const known = pauses.get(embed) ?? new Map<string, number>();
  pauses.set(embed, known);
  return known;
};

/** The memories whose meaning is nearest to a text, best first. A model that fails or is slow is `degraded`, and no error. */
export async function searchByMeaning(
  services: SearchServices,
  scope: MemoryScope,
  text: string,
  { narrowing, items, chunks }: VectorSearch,
): Promise<VectorHits> {
  const settings = await readSettings(services.pool, scope.tenantId);
  if (settings === null) return NONE;
  const vector = await embedQuery(services, scope.tenantId, settings.model, text);
  // Another dimension is another model under the same name, whose vectors mean nothing among the others.
  if (vector?.length !== settings.dimensions) return WITHOUT;
  const near = await findNearest(services.pool, scope, {
    space: settings.space,
    bits: bitsOf(vector),
    narrowing,
    items,
    chunks,
    limit: NEAREST,
  });
  const least = minCosine(settings.dimensions);
  const hits = near
    .map(({ id, is_item, codes }) => ({ id, is_item, score: cosine(vector, codes) }))
    .filter(({ score }) => score >= least);
  hits.sort((a, b) => b.score - a.score || (a.id < b.id ? 1 : -1));
  const asked = { vector, space: settings.space };
  return { configured: true, degraded: !settings.ready, hits: hits.slice(0, BEST), asked };
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

/** Lets the next search ask again: the model was just set. */
export function endPause(services: SearchServices, tenantId: string): void {
  pausesOf(services).delete(tenantId);
}
