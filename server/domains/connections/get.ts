import type { z } from 'zod';
import type { Context } from '../../api/context.ts';
import { notFound } from '../../platform/errors.ts';
import type { ById, Connection } from './schemas.ts';
import { type CountedRow, findCounted } from './store.ts';
import { toConnection } from './view.ts';

/** The workspace's connection. Throws AppError 404 for any other. */
export async function requireConnection({ principal, services }: Context, id: string): Promise<CountedRow> {
  const row = await findCounted(services.pool, { tenantId: principal.tenantId, connectionId: id });
  if (row === null) throw notFound('Connection');
  return row;
}

export async function getConnection(ctx: Context, { id }: z.output<typeof ById>): Promise<z.input<typeof Connection>> {
  return toConnection(await requireConnection(ctx, id));
}
