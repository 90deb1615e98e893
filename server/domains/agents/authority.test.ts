import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest';
import type { Principal } from '../../operation/context.ts';
import { type Scope, scopes } from '../../orchestrator/ports/authority.ts';
import { decideCall, type Standing } from '../../orchestrator/steps/agent/run-authority.ts';
import { ManualClock } from '../../platform/clock.ts';
import { newId } from '../../platform/ids.ts';
import { type AgentService, startAgentService } from '../../testing/agents.ts';
import { createTestMember, createTestPat, createTestTenant, type TestTenant } from '../../testing/identity.ts';
import { operationsByName } from '../../testing/operations.ts';
import { publishGraph, reached } from '../../testing/runs.ts';
import { call, contextFor } from '../../testing/workflows.ts';
import { startDueHandlers } from '../failure-handlers/start-due.ts';
import { runOperations } from '../runs/operations.ts';
import { createRunAuthority, STANDING_TTL_MS } from './authority.ts';
import { agentOperations } from './operations.ts';

const agents = operationsByName(agentOperations);
const runs = operationsByName(runOperations);
const NEVER = new AbortController().signal;

let service: AgentService;
let clock: ManualClock;
let tenant: TestTenant;
let agent: string;
let people = 0;

beforeAll(async () => {
  clock = new ManualClock(Date.UTC(2026, 0, 1));
  service = await startAgentService();
  tenant = await createTestTenant(service.services, { slug: 'acme' });
  const ctx = contextFor(service.services, tenant.owner);
  agent = (await call(agents.agents_create, ctx, { name: 'Support', model: 'openai/gpt-5' })).id;
});
afterAll(() => service.close());

let authority: ReturnType<typeof createRunAuthority>;
beforeEach(() => {
  authority = createRunAuthority({ pool: service.db.pool, clock });
});

const person = (role: 'project_viewer' | 'project_contributor' | 'tenant_admin' = 'project_contributor') =>
  createTestMember(service.services, tenant, role, `person-${people++}@example.com`);

/** A run that the principal has started. */
async function runOf(principal: Principal, id = agent): Promise<string> {
  const ctx = contextFor(service.services, principal);
  const { run_id } = await call(agents.agents_run, ctx, { id, input: { message: 'Hello' } });
  await reached(service.services, tenant.owner, { id, runID: run_id });
  return run_id;
}

const standingOf = (runId: string, projectId = tenant.projectId): Promise<Standing> =>
  authority.standing({ id: runId, workflowId: agent, version: 1, tenantId: tenant.tenantId, projectId }, NEVER);
const later = () => clock.advance(STANDING_TTL_MS);
const sql = (text: string, ...values: unknown[]) => service.db.pool.query(text, values);

describe('a run of an agent', () => {
  test.each(['project_viewer', 'project_contributor', 'tenant_admin'] as const)(
    'has the rights of a %s',
    async role => {
      const principal = await person(role);
      expect(await standingOf(await runOf(principal))).toEqual({
        kind: 'held',
        userId: principal.userId,
        patId: null,
        email: principal.email,
        role,
        scopes,
      });
    },
  );

  test('has the scopes of the token that started it', async () => {
    const given: Scope[] = ['ai:use', 'mcp:execute'];
    const { principal } = await createTestPat(service.services, await person(), given);
    expect(await standingOf(await runOf(principal))).toMatchObject({ kind: 'held', scopes: given });
  });

  test('follows a demotion and a promotion within two seconds', async () => {
    const { userId, ...principal } = await person();
    const run = await runOf({ ...principal, userId });
    expect(await standingOf(run)).toMatchObject({ role: 'project_contributor' });
    await sql(`UPDATE project_members SET role = 'project_viewer' WHERE user_id = $1`, userId);
    clock.advance(STANDING_TTL_MS - 1);
    expect(await standingOf(run)).toMatchObject({ role: 'project_contributor' });
    clock.advance(1);
    const demoted = await standingOf(run);
    expect(demoted).toMatchObject({ role: 'project_viewer' });
    expect(decideCall(demoted, { readOnly: false, scope: 'mcp:execute', approved: false }).kind).toBe('ask');
    await sql(`UPDATE project_members SET role = 'project_contributor' WHERE user_id = $1`, userId);
    later();
    expect(await standingOf(run)).toMatchObject({ role: 'project_contributor' });
  });

  test.each([
    ['the person has no role any more', 'DELETE FROM project_members WHERE user_id = $1', /no role in this project/],
    ['the person has left', 'DELETE FROM memberships WHERE user_id = $1', /has left the workspace/],
  ])('is lost when %s', async (_, statement, message) => {
    const { userId, ...principal } = await person();
    const run = await runOf({ ...principal, userId });
    expect(await standingOf(run)).toMatchObject({ kind: 'held' });
    await sql('DELETE FROM notification_preferences WHERE user_id = $1', userId);
    await sql(statement, userId);
    later();
    expect(await standingOf(run)).toEqual({
      kind: 'lost',
      code: 'authority_lost',
      message: expect.stringMatching(message),
    });
  });

  test('is lost when the token is revoked', async () => {
    const { principal } = await createTestPat(service.services, await person(), ['ai:use', 'mcp:execute']);
    const run = await runOf(principal);
    expect(await standingOf(run)).toMatchObject({ kind: 'held' });
    await sql('UPDATE pats SET revoked_at = now() WHERE user_id = $1', principal.userId);
    later();
    expect(await standingOf(run)).toMatchObject({ kind: 'lost', message: expect.stringMatching(/revoked/) });
  });

  test('is lost at the instant at which the token expires', async () => {
    const { principal } = await createTestPat(service.services, await person(), ['ai:use', 'mcp:execute']);
    const run = await runOf(principal);
    const expiry = new Date(clock.now() + 1_000);
    await sql('UPDATE pats SET expires_at = $2 WHERE user_id = $1', principal.userId, expiry);
    expect(await standingOf(run)).toMatchObject({ kind: 'held' });
    clock.advance(999);
    expect(await standingOf(run)).toMatchObject({ kind: 'held' });
    clock.advance(1);
    expect(await standingOf(run)).toMatchObject({ kind: 'lost', message: expect.stringMatching(/expired/) });
  });

  test('has no rights if it belongs to another project or does not exist', async () => {
    const run = await runOf(await person());
    expect(await standingOf(run, newId())).toMatchObject({ kind: 'lost' });
    expect(await standingOf(newId())).toMatchObject({ kind: 'lost' });
  });
});

describe('the user for whom a run acts', () => {
  const actorOf = async (runId: string) => {
    const { rows } = await service.db.pool.query<{ acts_for: unknown }>(
      `SELECT data->'acts_for' AS acts_for FROM run_events WHERE run_id = $1 AND seq = 1`,
      [runId],
    );
    return rows[0]?.acts_for ?? null;
  };
  const start = async (id: string, principal: Principal, params: object = {}) => {
    const ctx = contextFor(service.services, principal);
    const { run_id } = await call(runs.workflows_execute_command, ctx, { id, command: 'start', params });
    await reached(service.services, tenant.owner, { id, runID: run_id });
    return run_id;
  };

  test('is not recorded for a workflow without agents', async () => {
    const id = await publishGraph(service.services, tenant.owner, {
      steps: [{ id: 'one', type: 'condition', expression: 'true' }],
    });
    expect(await actorOf(await start(id, tenant.owner))).toBeNull();
  });

  test('is the one who started the rerun, not the earlier run', async () => {
    const [first, second] = [await person(), await person()];
    const run = await runOf(first);
    expect(await actorOf(run)).toEqual({ user_id: first.userId, pat_id: null });
    const again = await call(runs.runs_rerun, contextFor(service.services, second), { id: agent, runID: run });
    expect(await actorOf(again.run_id)).toEqual({ user_id: second.userId, pat_id: null });
  });

  test('is inherited by the runs that a run calls', async () => {
    const calling = await publishGraph(service.services, tenant.owner, {
      steps: [{ id: 'call', type: 'call_workflow', workflow_id: agent, input: { message: 'Hello' } }],
    });
    const asked = await person();
    await start(calling, asked);
    const { rows } = await sql('SELECT run_id FROM child_runs WHERE parent_workflow_id = $1', calling);
    expect(rows).toHaveLength(1);
    expect(await actorOf(rows[0].run_id)).toEqual({ user_id: asked.userId, pat_id: null });
  });

  test('is inherited by the failure handler', async () => {
    const handler = await publishGraph(service.services, tenant.owner, {
      steps: [{ id: 'answer', type: 'agent', prompt: 'What happened?', model: 'openai/gpt-5' }],
    });
    const failing = await publishGraph(service.services, tenant.owner, {
      steps: [{ id: 'stop', type: 'condition', mode: 'validate', expression: 'false' }],
      on_failure: { workflow_id: handler },
    });
    const asked = await person();
    const run = await start(failing, asked);
    await sql(
      // The database counts microseconds and the clock milliseconds, so a handler due at now() may not be due within this millisecond.
      `INSERT INTO failure_handlers (run_id, tenant_id, project_id, workflow_id, next_attempt_at)
       VALUES ($1, $2, $3, $4, now() - interval '1 ms')`,
      run,
      tenant.tenantId,
      tenant.projectId,
      handler,
    );
    await startDueHandlers(service.services);
    const { rows } = await sql('SELECT id FROM runs WHERE workflow_id = $1', handler);
    expect(rows).toHaveLength(1);
    expect(await actorOf(rows[0].id)).toEqual({ user_id: asked.userId, pat_id: null });
    await reached(service.services, tenant.owner, { id: handler, runID: rows[0].id });
  });
});
