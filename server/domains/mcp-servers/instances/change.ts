import type { z } from 'zod';
import type { Context } from '../../../operation/context.ts';
import { AppError, notFound } from '../../../platform/errors.ts';
import type { DeleteInstanceInput, InstanceDetail, PatchInstanceInput } from '../schemas.ts';
import { requireServer } from '../servers/view.ts';
import { requireVersion } from './create.ts';
import { usesOfInstance } from './queries.ts';
import { checkSettings } from './settings.ts';
import { deleteInstanceRow, updateInstance } from './store.ts';
import { describeInstance, instanceKey, MAX_USES_SHOWN, requireInstance, requireOwnConnection } from './view.ts';

/**
 * Changes the given fields: `version` null follows the latest, `connection_id` null unbinds. AppError
 * 404, 409, 422 as for creating.
 */
export async function patchInstance(
  ctx: Context,
  input: z.output<typeof PatchInstanceInput>,
): Promise<z.input<typeof InstanceDetail>> {
  const { prisma, clock } = ctx.services;
  const instance = await requireInstance(ctx, input.id);
  const { name, version, connection_id: connectionId, config } = input;
  const server = await requireServer(ctx, instance.server_id);
  if (typeof version === 'number') await requireVersion(ctx, server, version);
  await requireOwnConnection(ctx, connectionId, server);
  if (config !== undefined) checkSettings('config', config);
  const key = { ...instanceKey(ctx, instance.id), at: new Date(clock.now()) };
  const nothing = [name, version, connectionId, config].every(value => value === undefined);
  if (!nothing && !(await updateInstance(prisma, key, { name, version, connectionId, config }))) {
    throw notFound('MCP instance');
  }
  return describeInstance(ctx, instance.id);
}

/**
 * Deletes the instance with its profiles. Throws AppError 404; 409 `instance_in_use`, with the workflows in `details`, while a
 * draft or a latest version calls it, unless `force`.
 */
export async function deleteInstance(ctx: Context, input: z.output<typeof DeleteInstanceInput>): Promise<undefined> {
  const { pool, prisma } = ctx.services;
  const { id } = await requireInstance(ctx, input.id);
  const key = instanceKey(ctx, id);
  const uses = input.force ? [] : await usesOfInstance(pool, key, MAX_USES_SHOWN);
  if (uses.length > 0) {
    const details = uses.map(use => ({
      path: `workflows.${use.workflow_id}`,
      message: `“${use.name}” uses it in its ${use.published ? 'published version' : 'draft'}`,
      code: 'instance_in_use',
    }));
    const message = 'Workflows use this instance. Change them first, or repeat with force=true.';
    throw new AppError(409, 'instance_in_use', message, { details });
  }
  if (!(await deleteInstanceRow(prisma, key))) throw notFound('MCP instance');
}
