import { z } from 'zod';
import type { Context } from '../../operation/context.ts';
import { CursorTime, cutPage, decodeCursor } from '../../operation/cursor.ts';
import { Id } from '../../operation/wire.ts';
import { listChunks, listEpisodes } from './episodes/store.ts';
import { episodesOf } from './episodes/view.ts';
import { listEvidence, listItems } from './items/store.ts';
import { withEvidence } from './items/view.ts';
import { type ExportInput, type ExportOutput, MAX_TURNS } from './schemas.ts';
import { type Narrowing, scopeOf } from './scope.ts';

/** Items come first, then episodes; the key of the last one that was sent, or null before the first. */
const ExportCursor = z.tuple([z.enum(['items', 'episodes']), CursorTime.nullable(), Id.nullable()]);
/** Chunks of an episode, at the most that a request can index. */
const MAX_CHUNKS_PER_EPISODE = 10 * MAX_TURNS;
/** Episodes of a page: they are long. */
const MAX_EPISODES = 20;

/** GET /v1/memory/export: what the principal sees, in pages, with the evidence of items and the text of episodes. */
export async function exportMemory(
  { principal, services }: Context,
  { limit, cursor, of }: z.output<typeof ExportInput>,
): Promise<z.input<typeof ExportOutput>> {
  const [stage, time, id] = decodeCursor(ExportCursor, cursor) ?? (['items', null, null] as const);
  const after = time === null || id === null ? null : { at: new Date(time), id };
  const scope = scopeOf(principal);
  const narrowing: Narrowing = of === 'me' ? { visibility: 'private' } : {};
  if (stage === 'items') {
    const rows = await listItems(services.pool, scope, { after, limit: limit + 1, filter: narrowing });
    const page = cutPage(rows, limit, row => ['items', row.created_at.getTime(), row.id]);
    const evidence = await listEvidence(
      services.pool,
      principal,
      page.rows.map(row => row.id),
    );
    const items = page.rows.map(row => withEvidence(row, evidence));
    return { items, episodes: [], next_cursor: page.next_cursor ?? firstEpisodes };
  }
  const take = Math.min(limit, MAX_EPISODES);
  const rows = await listEpisodes(services.pool, scope, { after, limit: take + 1, narrowing });
  const page = cutPage(rows, take, row => ['episodes', row.occurred_at.getTime(), row.id]);
  const chunks = await listChunks(services.pool, scope, {
    episodeIds: page.rows.map(row => row.id),
    from: 0,
    limit: MAX_CHUNKS_PER_EPISODE * take,
  });
  return { items: [], episodes: episodesOf(page.rows, chunks), next_cursor: page.next_cursor };
}

const firstEpisodes = Buffer.from(JSON.stringify(['episodes', null, null]), 'utf8').toString('base64url');
