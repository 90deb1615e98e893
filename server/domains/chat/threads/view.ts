import type { z } from 'zod';
import type { Context, Principal } from '../../../operation/context.ts';
import { isoTimestamp } from '../../../platform/clock.ts';
import { type AppError, conflict, forbidden, notFound } from '../../../platform/errors.ts';
import type { ThreadSchema } from '../schemas.ts';
import { findThread, type ThreadRow, type ThreadScope } from './store.ts';

export const threadScope = ({
  principal: { tenantId, projectId, userId },
}: Pick<Context, 'principal'>): ThreadScope => ({
  tenantId,
  projectId,
  userId,
});

const timeOf = (at: Date) => isoTimestamp(at.getTime());

export function toThread(row: ThreadRow): z.input<typeof ThreadSchema> {
  return {
    id: row.id,
    project_id: row.project_id,
    owner_id: row.owner_id,
    title: row.title,
    kind: row.kind,
    agent_id: row.agent_id,
    model: row.model,
    workflow_id: row.workflow_id,
    visibility: row.visibility,
    head_id: row.head_id,
    message_count: row.message_count,
    active_run_id: row.active_run_id,
    awaits_person: row.awaits_person,
    archived_at: row.archived_at && timeOf(row.archived_at),
    created_at: timeOf(row.created_at),
    updated_at: timeOf(row.updated_at),
  };
}

/** Returns the thread. Throws AppError 404 if it does not exist or the caller may not see it. */
export async function requireThread(ctx: Context, id: string): Promise<ThreadRow> {
  const row = await findThread(ctx.services.pool, threadScope(ctx), id);
  if (row === null) throw threadNotFound();
  return row;
}

export const threadNotFound = (): AppError => notFound('Thread');
export const threadBusy = (): AppError => conflict('thread_busy', 'An answer is being written in this thread.');

/** Throws AppError 403 unless the caller owns the thread or administers the workspace. */
export function requireOwner({ userId, role }: Principal, { owner_id }: Pick<ThreadRow, 'owner_id'>): void {
  if (owner_id === userId || role === 'tenant_admin') return;
  throw forbidden('Only the owner of a thread and administrators may do this.', 'not_thread_owner');
}
