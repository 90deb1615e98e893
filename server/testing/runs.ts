import { settled } from '../domains/seed/settled.ts';
import { insertWorkflow } from '../domains/workflows/store.ts';
import { insertVersion } from '../domains/workflows/versions/queries.ts';
import type { Principal } from '../operation/context.ts';
import type { Services } from '../operation/services.ts';
import type { Graph, Phase } from '../orchestrator/core/index.ts';
import { LuaPool } from '../orchestrator/languages/lua/index.ts';
import type { CreditSource } from '../orchestrator/ports/credits.ts';
import { createEmbeddedOrchestrator } from '../orchestrator/runtime/index.ts';
import { createStepTypes } from '../orchestrator/steps/registry.ts';
import { newId } from '../platform/ids.ts';
import { contextFor, createTestServices, testConfig } from './identity.ts';
import { createTestDatabase, type TestDatabase } from './postgres.ts';

export type RunningService = { db: TestDatabase; services: Services; close(): Promise<void> };

/**
 * Creates a database with a leading orchestrator and all step types, as in production except for the surfaces. By
 * default nothing costs credits.
 */
export async function startTestService(
  env: Record<string, string> = {},
  credits?: (pool: TestDatabase['pool']) => CreditSource,
): Promise<RunningService> {
  const db = await createTestDatabase();
  const luaPool = new LuaPool({ workers: 1 });
  const stepTypes = createStepTypes({ luaPool });
  const config = testConfig({ BATON_SHUTDOWN_GRACE_S: '0', ...env });
  const base = createTestServices(db, { config, stepTypes });
  const orchestrator = createEmbeddedOrchestrator({
    pool: db.pool,
    connectionString: db.url,
    clock: base.clock,
    logger: base.logger,
    stepTypes,
    config: config.orchestrator,
    ...(credits && { credits: credits(db.pool) }),
  });
  await orchestrator.ready;
  return {
    db,
    services: { ...base, orchestrator },
    async close() {
      await orchestrator.close();
      await luaPool.close();
      await db.close();
    },
  };
}

/** Publishes a workflow with exactly this graph without validating it. */
export async function publishGraph(
  services: Services,
  owner: Pick<Principal, 'tenantId' | 'projectId' | 'userId'>,
  graph: Graph,
  runSetup: unknown = {},
): Promise<string> {
  const scope = { tenantId: owner.tenantId, projectId: owner.projectId };
  const at = new Date(services.clock.now());
  const made = { name: 'Under test', description: '', graphChecksum: '', createdBy: owner.userId };
  const { id } = await insertWorkflow(services.prisma, { id: newId(), scope, graph, runSetup, at, ...made });
  await insertVersion(services.pool, { ...scope, id, revision: 1 }, { changelog: '', by: owner.userId, at });
  return id;
}

/** Settles when the run is in one of the phases; by default when it has ended. */
export function reached(
  services: Services,
  principal: Principal,
  ref: { id: string; runID: string },
  ...phases: Phase[]
): Promise<void> {
  return settled(contextFor(services, principal), ref, phases.length === 0 ? ['complete'] : phases);
}

/** Returns a graph with a single human task: its runs wait until a person answers. */
export const asking = (more: Record<string, never> | Record<string, unknown> = {}): Graph => ({
  steps: [{ id: 'ask', type: 'human_task', ...(more as Record<string, never>) }],
});
