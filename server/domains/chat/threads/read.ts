import type { z } from 'zod';
import type { Context } from '../../../operation/context.ts';
import { cutPage, decodeCursor, TimeIdKey } from '../../../operation/cursor.ts';
import type { ListThreadsInput, ListThreadsOutput, ThreadRef, ThreadSchema } from '../schemas.ts';
import { listThreadRows } from './store.ts';
import { requireThread, threadScope, toThread } from './view.ts';

/** GET /v1/chat/threads: the caller's own threads and those shared with the project, last changed first. */
export async function listThreads(
  ctx: Context,
  { limit, cursor, q, agent_id, kind, archived }: z.output<typeof ListThreadsInput>,
): Promise<z.input<typeof ListThreadsOutput>> {
  const key = decodeCursor(TimeIdKey, cursor);
  const rows = await listThreadRows(ctx.services.pool, threadScope(ctx), {
    q: q === '' ? undefined : q,
    agentId: agent_id,
    kind,
    archived: archived === 'true',
    after: key && { at: new Date(key[0]), id: key[1] },
    limit: limit + 1,
  });
  const page = cutPage(rows, limit, row => [row.updated_at.getTime(), row.id]);
  return { threads: page.rows.map(toThread), next_cursor: page.next_cursor };
}

/** GET /v1/chat/threads/{id}. Throws AppError 404. */
export async function getThread(
  ctx: Context,
  { id }: z.output<typeof ThreadRef>,
): Promise<z.input<typeof ThreadSchema>> {
  return toThread(await requireThread(ctx, id));
}
