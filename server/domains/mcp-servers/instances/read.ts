import type { z } from 'zod';
import type { Context } from '../../../operation/context.ts';
import { cutPage, decodeCursor, TimeIdKey } from '../../../operation/cursor.ts';
import type { InstanceDetail, InstanceRef, ListInstancesInput, ListInstancesOutput } from '../schemas.ts';
import { listInstanceRows } from './queries.ts';
import { describeInstance, toInstance } from './view.ts';

/** Lists the project's instances, newest first. */
export async function listInstances(
  ctx: Context,
  input: z.output<typeof ListInstancesInput>,
): Promise<z.input<typeof ListInstancesOutput>> {
  const key = decodeCursor(TimeIdKey, input.cursor);
  const { tenantId, projectId } = ctx.principal;
  const rows = await listInstanceRows(
    ctx.services.pool,
    { tenantId, projectId },
    {
      serverId: input.server_id,
      q: input.q,
      after: key && { at: new Date(key[0]), id: key[1] },
      limit: input.limit + 1,
    },
  );
  const page = cutPage(rows, input.limit, row => [row.created_at.getTime(), row.id]);
  return { instances: page.rows.map(toInstance), next_cursor: page.next_cursor };
}

/** Returns an instance of the project. Throws AppError 404. */
export async function getInstance(
  ctx: Context,
  input: z.output<typeof InstanceRef>,
): Promise<z.input<typeof InstanceDetail>> {
  return describeInstance(ctx, input.id);
}
