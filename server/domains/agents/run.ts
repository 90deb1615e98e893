import type { z } from 'zod';
import type { Context } from '../../operation/context.ts';
import { startLatest } from '../runs/start/command.ts';
import type { CommandOutput } from '../runs/start/schemas.ts';
import type { RunAgentInput } from './schemas.ts';
import { requireAgent } from './view.ts';

/**
 * POST /v1/agents/{id}/runs: starts a run of the agent's latest version, once per `Idempotency-Key`. Throws AppError 404, 422
 * `agent_disabled`, and the errors of `startLatest`.
 */
export async function runAgent(
  ctx: Context,
  { id, input, session_id }: z.output<typeof RunAgentInput>,
): Promise<z.input<typeof CommandOutput>> {
  await requireAgent(ctx, id);
  return startLatest(ctx, { id, params: { trigger_payload: input, ...(session_id !== undefined && { session_id }) } });
}
