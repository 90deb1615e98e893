import type { z } from 'zod';
import type { Context } from '../../../operation/context.ts';
import { notFound } from '../../../platform/errors.ts';
import { requireWorkflow } from '../get.ts';
import type { ReadVersionInput, VersionRef, VersionSchema } from '../schemas.ts';
import { toVersion } from '../view.ts';
import { findVersion, type VersionRow } from './queries.ts';

/** Returns a published version of a workflow of the request's project. Throws AppError 404. */
export async function requireVersion(ctx: Context, ref: z.output<typeof VersionRef>): Promise<VersionRow> {
  const workflow = await requireWorkflow(ctx, ref.id);
  const row = await findVersion(ctx.services.pool, workflow.tenantId, workflow.id, ref.version);
  if (row === null) throw notFound('Version');
  return row;
}

export async function getVersion(
  ctx: Context,
  input: z.output<typeof ReadVersionInput>,
): Promise<z.input<typeof VersionSchema>> {
  return toVersion(await requireVersion(ctx, input));
}
