import type { z } from 'zod';
import type { Context } from '../../../operation/context.ts';
import { readPayload } from '../../../orchestrator/log/index.ts';
import { notFound } from '../../../platform/errors.ts';
import { requireRun } from '../access/find.ts';
import type { PayloadInput, PayloadOutput } from './schemas.ts';

/** Returns one value that an event of the run refers to. */
export async function getPayload(
  ctx: Context,
  input: z.output<typeof PayloadInput>,
): Promise<z.input<typeof PayloadOutput>> {
  const run = await requireRun(ctx, input);
  const body = await readPayload(ctx.services.pool, {
    tenantId: ctx.principal.tenantId,
    runId: run.id,
    payloadId: input.payload_id,
  });
  if (body === undefined) throw notFound('Payload');
  return { payload_id: input.payload_id, run_id: run.id, body };
}
