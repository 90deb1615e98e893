import type { Context } from '../../operation/context.ts';
import { notFound } from '../../platform/errors.ts';
import { findWorkflow } from '../workflows/store.ts';

/** The workflow and the agent that a memory is about, as requests name them. */
type About = { workflow_id?: string | undefined; agent_id?: string | undefined };

/** AppError 404 for a workflow or agent that the project does not have. An agent is a workflow of its own kind. */
export async function requireAbout(
  { principal, services }: Pick<Context, 'principal' | 'services'>,
  { workflow_id: workflowId, agent_id: agentId }: About,
): Promise<void> {
  if (workflowId !== undefined && (await findWorkflow(services.prisma, principal, workflowId)) === null) {
    throw notFound('Workflow');
  }
  if (agentId !== undefined && (await findWorkflow(services.prisma, principal, agentId))?.kind !== 'agent') {
    throw notFound('Agent');
  }
}
