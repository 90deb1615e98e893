import type { Context } from '../../operation/context.ts';
import { notFound } from '../../platform/errors.ts';
import { findWorkflow } from '../workflows/store.ts';

/** The fields of a request that name the workflow and the agent of a memory. */
type About = { workflow_id?: string | undefined; agent_id?: string | undefined };

/** Throws AppError 404 unless the project has the workflow and the agent. An agent is a workflow of the kind `agent`. */
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
