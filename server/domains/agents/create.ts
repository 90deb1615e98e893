import type { z } from 'zod';
import type { Context } from '../../operation/context.ts';
import { newId } from '../../platform/ids.ts';
import { transact } from '../../platform/postgres/transaction.ts';
import { insertPublished } from '../workflows/insert-published.ts';
import { projectScope } from '../workflows/view.ts';
import type { AgentSchema, CreateAgentInput } from './schemas.ts';
import { graphOf, newSettings } from './settings.ts';
import { type AgentExtras, insertAgent } from './store.ts';
import { requireValid } from './validate.ts';
import { answerAgent, requireAgent } from './view.ts';

/** POST /v1/agents: creates an agent and publishes its first version. Throws AppError 422 `invalid_agent` with the problems. */
export async function createAgent(
  ctx: Context,
  input: z.output<typeof CreateAgentInput>,
): Promise<z.input<typeof AgentSchema>> {
  const { prisma, clock } = ctx.services;
  const { userId } = ctx.principal;
  const { name, description = '', starters = [], ...given } = input;
  const id = newId();
  const settings = newSettings(given);
  await requireValid(ctx, id, settings);
  const scope = projectScope(ctx);
  const at = new Date(clock.now());
  const workflow = {
    id,
    scope,
    name,
    description,
    graph: graphOf(settings),
    kind: 'agent',
    createdBy: userId,
    at,
  } as const;
  const extras: AgentExtras = { status: 'active', starters };
  await transact({ prisma }, async tx => {
    await insertPublished(tx, workflow);
    await insertAgent(tx, scope, { id, ...extras });
  });
  return answerAgent(ctx, await requireAgent(ctx, id));
}
