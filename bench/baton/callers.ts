import type pg from 'pg';
import { createHttpRequester } from '../../server/domains/http-requests/requester.ts';
import { createWorkflowCaller } from '../../server/domains/runs/calls/workflow-caller.ts';
import { readConfig } from '../../server/operation/config.ts';
import type { WorkflowCaller } from '../../server/orchestrator/steps/call-workflow/workflow-caller.ts';
import type { HttpRequester } from '../../server/orchestrator/steps/http-request/http-requester.ts';
import { systemClock } from '../../server/platform/clock.ts';
import { createEgress } from '../../server/platform/egress/egress.ts';
import type { PrismaClient } from '../../server/platform/postgres/generated/client.ts';
import { DatabaseSecretStore } from '../../server/platform/secrets/database-secret-store.ts';

export type BenchCallers = { requester: HttpRequester; workflows: WorkflowCaller; close(): Promise<void> };

/**
 * Returns the product's own callers. Its egress guard refuses private addresses, so the benchmark's HTTP server is
 * allowed as an operator would allow it.
 */
export function createBenchCallers(pool: pg.Pool, prisma: PrismaClient): BenchCallers {
  const config = readConfig({ BATON_ALLOW_PRIVATE_NETWORK: '127.0.0.1' });
  const egress = createEgress({ allowPrivate: config.egress.allowPrivate });
  const secrets = new DatabaseSecretStore({ pool, clock: systemClock, masterKey: Buffer.alloc(32, 7) });
  return {
    requester: createHttpRequester({ pool, prisma, secrets, clock: systemClock, egress, config }),
    workflows: createWorkflowCaller({ pool }),
    async close() {
      await egress.close();
      secrets.close();
    },
  };
}
