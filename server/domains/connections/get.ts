import type { z } from 'zod';
import type { Context } from '../../operation/context.ts';
import { notFound } from '../../platform/errors.ts';
import type { ById, Connection } from './schemas.ts';
import { type ConnectionRef, type CountedRow, findCounted } from './store.ts';
import { toConnection } from './view.ts';

/** Returns the key of a connection as seen from the caller's project. */
export function connectionRef({ principal }: Context, connectionId: string): ConnectionRef {
  return { tenantId: principal.tenantId, projectId: principal.projectId, connectionId };
}

/** Returns a connection of the project or of the workspace. Throws AppError 404 for any other. */
export async function requireConnection(ctx: Context, id: string): Promise<CountedRow> {
  const row = await findCounted(ctx.services.prisma, connectionRef(ctx, id));
  if (row === null) throw notFound('Connection');
  return row;
}

export async function getConnection(ctx: Context, { id }: z.output<typeof ById>): Promise<z.input<typeof Connection>> {
  return toConnection(await requireConnection(ctx, id));
}
