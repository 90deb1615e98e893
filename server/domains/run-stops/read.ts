import type { z } from 'zod';
import type { Context } from '../../operation/context.ts';
import { cutPage, decodeCursor, TimeIdKey } from '../../operation/cursor.ts';
import { notFound } from '../../platform/errors.ts';
import { toJob } from './request.ts';
import type { ListStopsInput, ListStopsOutput, StopJob, StopRef } from './schemas.ts';
import { findStop, listStops as listRows } from './store.ts';

/** GET /v1/runs/stops/{stop_id}: the progress of a bulk stop. Throws AppError 404. */
export async function getStop(
  { services, principal }: Context,
  { stop_id }: z.output<typeof StopRef>,
): Promise<z.input<typeof StopJob>> {
  const row = await findStop(services.pool, principal.tenantId, stop_id);
  if (row === null || row.requester !== null) throw notFound('Bulk stop');
  return toJob(row);
}

/** GET /v1/runs/stops: the bulk stops of the workspace, newest first. */
export async function listStops(
  { services, principal }: Context,
  { cursor, limit }: z.output<typeof ListStopsInput>,
): Promise<z.input<typeof ListStopsOutput>> {
  const key = decodeCursor(TimeIdKey, cursor);
  const after = key && { at: new Date(key[0]), id: key[1] };
  const rows = await listRows(services.pool, principal.tenantId, { after, limit: limit + 1, projectId: null });
  const page = cutPage(rows, limit, row => [row.requestedAt.getTime(), row.id]);
  return { stops: page.rows.map(toJob), next_cursor: page.next_cursor };
}
