import type { z } from 'zod';
import type { Context } from '../../operation/context.ts';
import { cutPage, decodeCursor, TimeIdKey } from '../../operation/cursor.ts';
import { listCounted } from './list-queries.ts';
import type { ListConnectionsInput, ListConnectionsOutput } from './schemas.ts';
import { toConnection } from './view.ts';

/** GET /v1/connections: those of the project and those shared with the workspace, newest first. */
export async function listConnections(
  { principal, services }: Context,
  { limit, cursor, q, ...filter }: z.output<typeof ListConnectionsInput>,
): Promise<z.input<typeof ListConnectionsOutput>> {
  const after = decodeCursor(TimeIdKey, cursor);
  const wanted = { ...filter, q: q === '' ? undefined : q };
  const rows = await listCounted(services.pool, principal, wanted, after, limit + 1);
  const page = cutPage(rows, limit, row => [row.createdAt.getTime(), row.id]);
  return { connections: page.rows.map(toConnection), next_cursor: page.next_cursor };
}
