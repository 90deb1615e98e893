import { z } from 'zod';
import type { Context } from '../../../operation/context.ts';
import { cutPage, decodeCursor } from '../../../operation/cursor.ts';
import { MAX_INTEGER } from '../../../operation/wire.ts';
import { isoTimestamp } from '../../../platform/clock.ts';
import { processAnswers } from '../answers/process.ts';
import type { ListMessagesInput, ListMessagesOutput, MessageSchema } from '../schemas.ts';
import { requireThread } from '../threads/view.ts';
import { listMessageRows, type MessageRow } from './store.ts';

const PlaceKey = z.tuple([z.number().int().min(1).max(MAX_INTEGER)]);

/**
 * GET /v1/chat/threads/{id}/messages: the messages of all branches, in the order in which they were sent. Throws AppError 404.
 */
export async function listMessages(
  ctx: Context,
  { id, limit, cursor, order }: z.output<typeof ListMessagesInput>,
): Promise<z.input<typeof ListMessagesOutput>> {
  const { pool } = ctx.services;
  const { tenantId } = ctx.principal;
  const key = decodeCursor(PlaceKey, cursor);
  await requireThread(ctx, id);
  const readRows = () =>
    listMessageRows(pool, { tenantId, threadId: id }, { after: key?.[0] ?? null, limit: limit + 1, order });
  let rows = await readRows();
  // An answer that has just ended may not be saved yet.
  if (rows.some(({ status }) => status === 'running')) {
    await processQuietly(ctx, id);
    rows = await readRows();
  }
  const page = cutPage(rows, limit, ({ place }) => [place]);
  return { messages: page.rows.map(toMessage), next_cursor: page.next_cursor };
}

/** Processes the answers of a thread and ignores failures, because reading must not depend on starts. */
const processQuietly = ({ services }: Context, threadId: string) => processAnswers(services, threadId).catch(() => 0);

function toMessage(row: MessageRow): z.input<typeof MessageSchema> {
  return {
    id: row.id,
    role: row.role,
    parts: row.parts,
    metadata: {
      parent_id: row.parent_id,
      status: row.status,
      run_id: row.run_id,
      error: row.error,
      usage: row.usage,
      sent_by: row.sent_by,
      created_at: isoTimestamp(row.created_at.getTime()),
    },
  };
}
