import type { Context } from '../../../operation/context.ts';
import { addedId, agentStepType, turnId } from '../../../orchestrator/core/index.ts';
import { AgentWork, type PlannedTool } from '../../../orchestrator/steps/agent/plan.ts';
import { projectScope } from '../../workflows/view.ts';
import { type AskedCallRow, findAskedCallRow } from '../grants-queries.ts';

/** The call of an agent for which a task asks approval. */
export type AskedCall = { run: string; tool: PlannedTool; work: AgentWork; row: AskedCallRow };

/** Returns the call for which a task asks approval; null for every other task. `approval`: the step of the task. */
export async function findAskedCall(ctx: Context, runId: string, approval: string): Promise<AskedCall | null> {
  const id = addedId(approval);
  if (id === null || agentStepType(approval) !== 'agent_approval') return null;
  const { parent: agent, index, name } = id;
  const { userId } = ctx.principal;
  const call = { runId, agent, approval, turn: turnId(agent, index), number: Number.parseInt(name, 10) };
  const row = await findAskedCallRow(ctx.services.pool, projectScope(ctx), { ...call, userId });
  const work = AgentWork.safeParse(row?.work).data;
  const tool = work?.tools.find(each => each.name === row?.tool);
  return row === null || work === undefined || tool === undefined ? null : { run: runId, tool, work, row };
}
