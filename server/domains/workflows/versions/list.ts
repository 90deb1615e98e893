import { z } from 'zod';
import type { Context } from '../../../operation/context.ts';
import { cutPage, decodeCursor } from '../../../operation/cursor.ts';
import { MAX_INTEGER } from '../../../operation/wire.ts';
import { requireWorkflow } from '../get.ts';
import type { ListVersionsInput, ListVersionsOutput } from '../schemas.ts';
import { toVersion } from '../view.ts';
import { listVersions as selectPage } from './queries.ts';

const VersionKey = z.tuple([z.number().int().min(1).max(MAX_INTEGER)]);

/** Returns the versions of a workflow, newest first. */
export async function listVersions(
  ctx: Context,
  input: z.output<typeof ListVersionsInput>,
): Promise<z.input<typeof ListVersionsOutput>> {
  const key = decodeCursor(VersionKey, input.cursor);
  const workflow = await requireWorkflow(ctx, input.id);
  const rows = await selectPage(ctx.services.pool, workflow.tenantId, workflow.id, {
    before: key?.[0] ?? null,
    limit: input.limit + 1,
  });
  const page = cutPage(rows, input.limit, row => [row.version]);
  return { versions: page.rows.map(toVersion), next_cursor: page.next_cursor };
}
