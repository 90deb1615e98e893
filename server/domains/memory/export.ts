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

/** The stage of an export (items, then episodes), and the key of the last row; null before the first row. */
const ExportCursor = z.tuple([z.enum(['items', 'episodes']), CursorTime.nullable(), Id.nullable()]);
/** The maximum number of chunks of an episode that an export reads. */
const MAX_CHUNKS_PER_EPISODE = 10 * MAX_TURNS;
/** The maximum number of episodes of a page, because episodes are long. */
const MAX_EPISODES = 20;

/** GET /v1/memory/export: pages of the memories that the principal sees, with the evidence of items and the text of episodes. */
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
