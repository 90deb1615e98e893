import type { z } from 'zod';
import type { Context } from '../../../operation/context.ts';
import { cutPage, decodeCursor, TimeIdKey } from '../../../operation/cursor.ts';
import { isoTimestamp } from '../../../platform/clock.ts';
import { notFound } from '../../../platform/errors.ts';
import { findItem } from '../items/store.ts';
import { scopeOf } from '../scope.ts';
import type { ListRecalledInput, ListRecalledOutput, ListUsesInput, ListUsesOutput } from './schemas.ts';
import { canReadRun, listRecalled, listUses } from './store.ts';

/** GET /v1/memory/items/{id}/uses: what recalled an item, newest first. Throws AppError 404. */
export async function listItemUses(
  { principal, services }: Context,
  { id, limit, cursor }: z.output<typeof ListUsesInput>,
): Promise<z.input<typeof ListUsesOutput>> {
  const key = decodeCursor(TimeIdKey, cursor);
  const scope = scopeOf(principal);
  if ((await findItem(services.pool, scope, id)) === null) throw notFound('Item');
  const after = key && { at: new Date(key[0]), id: key[1] };
  const rows = await listUses(services.pool, scope, id, { after, limit: limit + 1 });
  const page = cutPage(rows, limit, row => [row.recalled_at.getTime(), row.id]);
  return {
    uses: page.rows.map(({ id: _, recalled_at, ...use }) => ({
      ...use,
      recalled_at: isoTimestamp(recalled_at.getTime()),
    })),
    next_cursor: page.next_cursor,
  };
}

/**
 * GET /v1/memory/recalls/{runID}: lists the memories that a run was given. Throws AppError 404 for a run that the principal may
 * not read.
 */
export async function listRecalledByRun(
  { principal, services }: Context,
  { runID: runId, step_id: stepId }: z.output<typeof ListRecalledInput>,
): Promise<z.input<typeof ListRecalledOutput>> {
  const scope = scopeOf(principal);
  if (!(await canReadRun(services.pool, scope, runId))) throw notFound('Run');
  const { rows, total } = await listRecalled(services.pool, scope, { runId, stepId: stepId ?? null });
  const memories = rows.map(({ is_item, source_ref, ...memory }) => ({
    ...memory,
    type: is_item ? ('item' as const) : ('chunk' as const),
    source: source_ref,
  }));
  return { memories, total };
}
