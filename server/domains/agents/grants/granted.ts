import type { Services } from '../../../operation/services.ts';
import type { AgentGrants } from '../../../orchestrator/steps/agent/grants.ts';
import { whileDatabaseAway } from '../../../platform/postgres/while-away.ts';
import { grantsInForce } from '../grants-queries.ts';

/**
 * Creates the port through which agents read grants. The port caches nothing, so a withdrawn grant does not apply to the
 * next call.
 */
export function createAgentGrants({ pool, clock }: Pick<Services, 'pool' | 'clock'>): AgentGrants {
  return {
    of: ({ id: runId, workflowId, tenantId, projectId }, agentId = workflowId, signal) =>
      whileDatabaseAway(signal, () =>
        grantsInForce(pool, { tenantId, projectId }, { agentId, runId, at: new Date(clock.now()) }),
      ),
  };
}
