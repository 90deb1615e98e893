import type { z } from 'zod';
import type { Context } from '../../../operation/context.ts';
import { cutPage, decodeCursor, TimeIdKey } from '../../../operation/cursor.ts';
import { isoTimestamp } from '../../../platform/clock.ts';
import { notFound } from '../../../platform/errors.ts';
import { projectScope } from '../../workflows/view.ts';
import { deleteGrant, type GrantRow, type GrantSubject, listGrantRows } from '../grants-queries.ts';
import type { GrantSchema, ListGrantsInput, ListGrantsOutput, RevokeGrantInput } from '../schemas.ts';
import { requireAgent } from '../view.ts';

type List = z.output<typeof ListGrantsInput>;

/** GET /v1/agents/{id}/grants. Throws AppError 404. */
export async function listAgentGrants(ctx: Context, input: List): Promise<z.input<typeof ListGrantsOutput>> {
  await requireAgent(ctx, input.id);
  return listGrants(ctx, { agentId: input.id }, input);
}

/** DELETE /v1/agents/{id}/grants/{grant_id}. Throws AppError 404. */
export async function revokeAgentGrant(ctx: Context, input: z.output<typeof RevokeGrantInput>): Promise<void> {
  await requireAgent(ctx, input.id);
  const isDeleted = await deleteGrant(
    ctx.services.pool,
    projectScope(ctx),
    { agentId: input.id },
    { id: input.grant_id },
  );
  if (!isDeleted) throw notFound('Grant');
}

/** Returns a page of the grants of an agent or a conversation, the newest first. */
export async function listGrants(
  ctx: Context,
  subject: GrantSubject,
  { limit, cursor }: Pick<List, 'limit' | 'cursor'>,
): Promise<z.input<typeof ListGrantsOutput>> {
  const { pool, clock } = ctx.services;
  const key = decodeCursor(TimeIdKey, cursor);
  const rows = await listGrantRows(pool, projectScope(ctx), subject, {
    after: key && { at: new Date(key[0]), id: key[1] },
    limit: limit + 1,
    at: new Date(clock.now()),
  });
  const page = cutPage(rows, limit, row => [row.created_at.getTime(), row.id]);
  return { grants: page.rows.map(toGrant), next_cursor: page.next_cursor };
}

const toGrant = (row: GrantRow): z.input<typeof GrantSchema> => ({
  id: row.id,
  agent_id: row.agent_id,
  thread_id: row.thread_id,
  instance_id: row.instance_id,
  instance: row.instance,
  tool: row.tool,
  arguments: row.arguments,
  granted_by: row.granted_by,
  in_force: row.in_force,
  created_at: isoTimestamp(row.created_at.getTime()),
  expires_at: row.expires_at && isoTimestamp(row.expires_at.getTime()),
});
