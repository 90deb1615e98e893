import { z } from 'zod';
import { createWorkflowCaller } from '../domains/runs/calls/workflow-caller.ts';
import type { Services } from '../operation/services.ts';
import { LuaPool } from '../orchestrator/languages/lua/index.ts';
import type { Attempt, Outcome, StepType } from '../orchestrator/ports/step-type.ts';
import { createEmbeddedOrchestrator } from '../orchestrator/runtime/index.ts';
import { agentFields } from '../orchestrator/steps/agent/settings.ts';
import { createStepTypes } from '../orchestrator/steps/registry.ts';
import { createTestServices, testConfig } from './identity.ts';
import { createTestDatabase, type TestDatabase } from './postgres.ts';

export type AgentService = { db: TestDatabase; services: Services; close(): Promise<void> };

/** A model that no agent may have: saving one with it is refused. */
export const UNUSABLE_MODEL = 'openai/no-key';

/**
 * Starts a leading orchestrator whose steps of the type `agent` do what `execute` says, for tests of the code around
 * agents. Default: they answer with their prompt.
 */
export async function startAgentService(
  execute: (attempt: Attempt, signal: AbortSignal) => Promise<Outcome> = echo,
  overrides: Partial<Pick<Services, 'clock'>> & { env?: Record<string, string> } = {},
): Promise<AgentService> {
  const { env = {}, ...given } = overrides;
  const db = await createTestDatabase();
  const luaPool = new LuaPool({ workers: 1 });
  const stepTypes = new Map([
    ...createStepTypes({ luaPool, workflows: createWorkflowCaller(db) }),
    ['agent', agentType(execute)] as const,
  ]);
  const config = testConfig({ BATON_SHUTDOWN_GRACE_S: '0', ...env });
  const base = createTestServices(db, { config, stepTypes, ...given });
  const orchestrator = createEmbeddedOrchestrator({
    pool: db.pool,
    connectionString: db.url,
    clock: base.clock,
    logger: base.logger,
    stepTypes,
    config: config.orchestrator,
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

const echo = async ({ input }: Attempt): Promise<Outcome> => ({
  kind: 'completed',
  result: { text: input.message ?? '', ended_by: 'answered' },
});

const agentType = (execute: StepType['execute']): StepType => ({
  type: 'agent',
  label: 'Agent',
  icon: 'bot',
  family: 'ai',
  billable: [],
  fields: z.strictObject({
    agent_id: z.string().optional(),
    prompt: z.string(),
    ...agentFields,
    model: z.string().optional(),
  }),
  available: true,
  defaultTimeoutS: null,
  retries: false,
  dataFields: ['prompt'],
  rawFields: [],
  check: ({ model }) =>
    model === UNUSABLE_MODEL
      ? [{ path: 'model', code: 'model_key_missing', message: 'there is no key for OpenAI in this workspace' }]
      : [],
  execute,
});
