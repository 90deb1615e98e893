import type { z } from 'zod';
import type { Context } from '../../../operation/context.ts';
import { cutPage, decodeCursor, TimeIdKey } from '../../../operation/cursor.ts';
import { invalid, notFound } from '../../../platform/errors.ts';
import type {
  ContinuationInput,
  ContinuationOutput,
  GetEpisodeInput,
  GetEpisodeOutput,
  ListEpisodesInput,
  ListEpisodesOutput,
} from '../schemas.ts';
import { scopeOf } from '../scope.ts';
import { findEpisode, findPosition, listChunks, listEpisodes, listFollowing } from './store.ts';
import { chunkOf, episodesOf, summaryOf } from './view.ts';

/** The maximum number of episodes of a continuation. */
const MAX_FOLLOWING = 20;

/** GET /v1/memory/episodes: lists episodes, newest first. */
export async function listMemoryEpisodes(
  { principal, services }: Context,
  { limit, cursor, visibility }: z.output<typeof ListEpisodesInput>,
): Promise<z.input<typeof ListEpisodesOutput>> {
  const key = decodeCursor(TimeIdKey, cursor);
  const after = key && { at: new Date(key[0]), id: key[1] };
  const rows = await listEpisodes(services.pool, scopeOf(principal), {
    after,
    limit: limit + 1,
    narrowing: { visibility },
  });
  const page = cutPage(rows, limit, row => [row.occurred_at.getTime(), row.id]);
  return { episodes: page.rows.map(summaryOf), next_cursor: page.next_cursor };
}

/** GET /v1/memory/episodes/{id}: the episode with its chunks, from a position or around a chunk. Throws AppError 404, 422. */
export async function getEpisode(
  { principal, services }: Context,
  input: z.output<typeof GetEpisodeInput>,
): Promise<z.input<typeof GetEpisodeOutput>> {
  const scope = scopeOf(principal);
  const episode = await findEpisode(services.pool, scope, input.id);
  if (episode === null) throw notFound('Episode');
  let { from } = input;
  if (input.around !== undefined) {
    const at = await findPosition(services.pool, scope, { episodeId: input.id, chunkId: input.around });
    if (at === null) throw invalid('No such chunk.', [{ path: 'around', message: 'is not a chunk of this episode' }]);
    from = Math.max(0, at - Math.floor((input.limit - 1) / 2));
  }
  const chunks = await listChunks(services.pool, scope, { episodeIds: [input.id], from, limit: input.limit + 1 });
  const shown = chunks.slice(0, input.limit);
  const next = chunks.length > input.limit ? from + input.limit : null;
  return { ...summaryOf(episode), chunks: shown.map(chunkOf), next_from: next };
}

/** GET /v1/memory/episodes/{id}/continuation: what followed in the same thread or file. Throws AppError 404. */
export async function getContinuation(
  { principal, services }: Context,
  { id, limit }: z.output<typeof ContinuationInput>,
): Promise<z.input<typeof ContinuationOutput>> {
  const scope = scopeOf(principal);
  const episode = await findEpisode(services.pool, scope, id);
  if (episode === null) throw notFound('Episode');
  const following = await listFollowing(services.pool, scope, episode, MAX_FOLLOWING);
  const episodeIds = following.map(each => each.id);
  const chunks = await listChunks(services.pool, scope, { episodeIds, from: 0, limit });
  return { episodes: episodesOf(following, chunks).filter(each => each.chunks.length > 0) };
}
