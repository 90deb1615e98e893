import type { z } from 'zod';
import type { Context } from '../../operation/context.ts';
import { cutPage, decodeCursor, TimeIdKey } from '../../operation/cursor.ts';
import { projectScope } from '../workflows/view.ts';
import { listAgentRows } from './queries.ts';
import type { AgentRef, AgentSchema, ListAgentsInput, ListAgentsOutput } from './schemas.ts';
import { answerAgent, requireAgent, toAgentHead } from './view.ts';

/** GET /v1/agents: the project's agents, newest first, without the fields that may be large. */
export async function listAgents(
  ctx: Context,
  input: z.output<typeof ListAgentsInput>,
): Promise<z.input<typeof ListAgentsOutput>> {
  const key = decodeCursor(TimeIdKey, input.cursor);
  const rows = await listAgentRows(ctx.services.pool, projectScope(ctx), {
    status: input.status,
    q: input.q === '' ? undefined : input.q,
    after: key && { at: new Date(key[0]), id: key[1] },
    limit: input.limit + 1,
  });
  const page = cutPage(rows, input.limit, row => [row.createdAt.getTime(), row.id]);
  return {
    agents: page.rows.map(row => ({
      ...toAgentHead(row, row.archived, row.extras, row.settings),
      recent_runs: row.recentRuns,
    })),
    next_cursor: page.next_cursor,
  };
}

/** GET /v1/agents/{id}. Throws AppError 404. */
export async function getAgent(ctx: Context, { id }: z.output<typeof AgentRef>): Promise<z.input<typeof AgentSchema>> {
  return answerAgent(ctx, await requireAgent(ctx, id));
}
