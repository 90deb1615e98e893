import type { Services } from '../../operation/services.ts';
import type { CheckScope, StepProblem } from '../../orchestrator/ports/step-type.ts';
import type { AgentAnswer, AgentSource } from '../../orchestrator/steps/agent/source.ts';
import { isId } from '../../platform/ids.ts';
import { whileDatabaseAway } from '../../platform/postgres/while-away.ts';
import { findWorkflow, type ProjectScope } from '../workflows/store.ts';
import { settingsOf } from './settings.ts';
import { type AgentExtras, findAgentExtras } from './store.ts';

/** Creates the port through which steps use agents of their project. Agents of other projects are not found. */
export function createAgentSource({ prisma }: Pick<Services, 'prisma'>): AgentSource {
  async function find(scope: ProjectScope, agentId: string): Promise<AgentAnswer> {
    const id = agentId.toLowerCase();
    const workflow = isId(id) ? await findWorkflow(prisma, scope, id) : null;
    const extras = workflow?.kind === 'agent' ? await findAgentExtras(prisma, scope, id) : null;
    if (workflow === null || extras === null)
      return { kind: 'failed', code: 'agent_not_found', message: 'The project has no agent of this id.' };
    const unusable = whyUnusable(workflow.status === 'archived', extras);
    if (unusable !== null) return unusable;
    const settings = settingsOf(workflow.graph);
    return { kind: 'agent', agentId: id, version: workflow.latestVersion ?? 0, settings };
  }
  return {
    check: (scope, agentId) => check(scope, agentId, find),
    resolve: ({ tenantId, projectId }, agentId, signal) =>
      whileDatabaseAway(signal, () => find({ tenantId, projectId }, agentId)),
  };
}

function whyUnusable(isArchived: boolean, { status }: AgentExtras): Extract<AgentAnswer, { kind: 'failed' }> | null {
  if (isArchived) return { kind: 'failed', code: 'agent_archived', message: 'The agent is archived.' };
  if (status === 'disabled') return { kind: 'failed', code: 'agent_disabled', message: 'The agent is disabled.' };
  return null;
}

async function check(
  { tenantId, projectId }: CheckScope,
  agentId: string,
  find: (scope: ProjectScope, agentId: string) => Promise<AgentAnswer>,
): Promise<StepProblem[]> {
  const answer = await find({ tenantId, projectId }, agentId);
  // A disabled agent may be active again when the workflow runs.
  if (answer.kind === 'agent' || answer.code === 'agent_disabled') return [];
  return [{ path: 'agent_id', code: answer.code, message: answer.message }];
}
