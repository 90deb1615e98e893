import type { z } from 'zod';
import type { Context } from '../../operation/context.ts';
import { AppError, notFound } from '../../platform/errors.ts';
import { connectionSecret } from './document.ts';
import { connectionRef, requireConnection } from './get.ts';
import { withConnectionLock } from './lock-queries.ts';
import { requireManageable } from './ownership.ts';
import type { DeleteConnectionInput } from './schemas.ts';
import { deleteHidden, findConnection, hideConnection, showConnection } from './store.ts';
import { usageOf } from './usage.ts';

/**
 * DELETE /v1/connections/{id}. A connection in use is refused with 409 `connection_in_use` and the list of its users,
 * unless forced, which leaves the users without a connection. Hides the row, then deletes the secret, then the row: a
 * crash in between leaves a hidden row, which `removeAbandonedConnections` deletes. Throws AppError 403 for a connection that
 * is shared with the workspace, unless by a `tenant_admin`; 404; 503 if the secret store is unavailable, and then
 * nothing has changed.
 */
export async function deleteConnection(
  ctx: Context,
  { id, force }: z.output<typeof DeleteConnectionInput>,
): Promise<undefined> {
  const { services } = ctx;
  const ref = connectionRef(ctx, id);
  const { name, ...found } = await requireConnection(ctx, id);
  requireManageable(ctx, { name, ...found });
  await withConnectionLock(services, id, async () => {
    if (!force) await refuseInUse(ctx, id, name);
    const row = await findConnection(services.prisma, ref);
    if (row === null || !(await hideConnection(services.prisma, ref))) throw notFound('Connection');
    try {
      await services.secrets.delete(ref.tenantId, connectionSecret(id));
    } catch (error) {
      await showConnection(services.prisma, ref, row.status);
      throw error;
    }
    await deleteHidden(services.prisma, ref);
  });
}

async function refuseInUse(ctx: Context, id: string, name: string): Promise<void> {
  const { total, instances, profiles, workflows, elsewhere } = await usageOf(ctx, id);
  if (total === 0) return;
  const details = [
    ...instances.map(each => ({ path: `instances.${each.id}`, message: `MCP instance "${each.name}"` })),
    ...profiles.map(each => ({
      path: `profiles.${each.id}`,
      message: `profile "${each.name}" of the MCP instance "${each.instance_name}"`,
    })),
    ...workflows.map(each => ({ path: `workflows.${each.id}`, message: `workflow "${each.name}"` })),
    ...(elsewhere > 0 ? [{ path: 'elsewhere', message: `${elsewhere} in other projects` }] : []),
  ];
  const places = total === 1 ? '1 place' : `${total} places`;
  throw new AppError(409, 'connection_in_use', `The connection "${name}" is used in ${places}.`, { details });
}
