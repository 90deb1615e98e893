import { z } from 'zod';
import type { Context, Principal } from '../operation/context.ts';
import type { Operation } from '../operation/operation.ts';
import type { Services } from '../operation/services.ts';
import type { RunStatus } from '../orchestrator/core/index.ts';
import { LuaPool } from '../orchestrator/languages/lua/index.ts';
import { createStepTypes } from '../orchestrator/steps/registry.ts';
import { AppError } from '../platform/errors.ts';
import { newId } from '../platform/ids.ts';
import { contextFor, createTestMember, createTestServices, type TestTenant } from './identity.ts';

/** Runs an operation as a surface does: parses the input (a mismatch is AppError 422), and checks the output. */
export async function call<I extends z.ZodType, O extends z.ZodType>(
  operation: Operation<I, O>,
  ctx: Context,
  input: unknown,
): Promise<z.output<O>> {
  const parsed = operation.input.safeParse(input);
  if (!parsed.success) throw new AppError(422, 'invalid', z.prettifyError(parsed.error));
  const run = operation.run as (ctx: Context, input: z.output<I>) => Promise<z.input<O>>;
  return operation.output.parse(await run(ctx, parsed.data));
}

/** Returns the AppError with which a promise rejects; fails the test if it does not reject. */
export async function refusal(promise: Promise<unknown>): Promise<AppError> {
  try {
    await promise;
  } catch (error) {
    if (error instanceof AppError) return error;
    throw error;
  }
  throw new Error('Expected an AppError, but it went well.');
}

/** Creates a second project of the tenant, with a contributor who is in no other project. */
export async function createTestProject(
  services: Services,
  tenant: TestTenant,
  name: string,
): Promise<{ projectId: string; contributor: Principal }> {
  const projectId = newId();
  await services.prisma.project.create({
    data: { id: projectId, tenantId: tenant.tenantId, name, createdAt: new Date(services.clock.now()) },
  });
  const email = `${name}@${tenant.tenantId}.example.com`;
  const scope = { tenantId: tenant.tenantId, projectId };
  return { projectId, contributor: await createTestMember(services, scope, 'project_contributor', email) };
}

export { contextFor };

/** Creates services with all step types over a database; close them before the database. */
export function createServicesWithSteps(
  db: Parameters<typeof createTestServices>[0],
  overrides: Partial<Services> = {},
): { services: Services; close(): Promise<void> } {
  const luaPool = new LuaPool({ workers: 1 });
  const stepTypes = createStepTypes({ luaPool });
  return { services: createTestServices(db, { stepTypes, ...overrides }), close: () => luaPool.close() };
}

type LuaStep = { id: string; type: string; script: string; depends_on: string[] };

/** Returns a step that runs a Lua script. */
export const luaStep = (id: string, script: string, ...depends_on: string[]): LuaStep => ({
  id,
  type: 'lua_script',
  script,
  depends_on,
});

/** Returns a valid graph without effects: a chain of Lua scripts. */
export function chain(...ids: string[]): { steps: LuaStep[] } {
  return {
    steps: ids.map((id, index) => luaStep(id, `return "${id}"`, ...ids.slice(Math.max(0, index - 1), index))),
  };
}

/** Inserts the projection of a run as the log would, for lists that need many runs. */
export async function insertRun(
  services: Services,
  run: {
    tenantId: string;
    projectId: string;
    workflowId: string;
    id?: string;
    status?: RunStatus;
    startedAt?: Date;
    sessionId?: string;
    triggerType?: string;
  },
): Promise<string> {
  const id = run.id ?? newId();
  const status = run.status ?? 'completed';
  const startedAt = run.startedAt ?? new Date(services.clock.now());
  const ended = status === 'running' || status === 'paused' ? null : startedAt;
  await services.pool.query(
    `INSERT INTO runs (id, tenant_id, project_id, workflow_id, version, status, orchestration_phase, session_id,
       trigger_type, started_by, started_at, ended_at, error, steps_total, steps_done, pending_tasks, last_seq, hidden)
     VALUES ($1, $2, $3, $4, 1, $5, $6, $7, $8, 'someone@example.com', $9, $10, NULL, 1, 1, 0, 1,
             coalesce((SELECT kind <> 'workflow' FROM workflows WHERE id = $4), false))`,
    [
      id,
      run.tenantId,
      run.projectId,
      run.workflowId,
      status,
      ended === null ? 'executing' : 'complete',
      run.sessionId ?? id,
      run.triggerType ?? 'api',
      startedAt,
      ended,
    ],
  );
  return id;
}
