import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import type { Graph } from '../orchestrator/core/index.ts';
import { type Scope, scopes } from '../orchestrator/ports/authority.ts';
import { newId } from '../platform/ids.ts';
import { startTestContainer, type TestContainer } from '../testing/container.ts';
import { createTestMember, createTestPat, createTestTenant, type TestTenant } from '../testing/identity.ts';
import { asking, publishGraph } from '../testing/runs.ts';

/**
 * Starts on the real service: data that requests share (look-ups, commits, recently read
 * tokens) must not share authority.
 */
let service: TestContainer;
let acme: TestTenant & { workflow: string; token: string };
let rival: TestTenant & { workflow: string; token: string };

beforeAll(async () => {
  service = await startTestContainer();
  acme = await tenantWithWorkflow('acme');
  rival = await tenantWithWorkflow('rival');
});
afterAll(() => service.close());

async function tenantWithWorkflow(slug: string) {
  const { services } = service.container;
  const tenant = await createTestTenant(services, { slug });
  const workflow = await publishGraph(services, tenant.owner, asking());
  const { token } = await createTestPat(services, tenant.contributor, ['workflow:run', 'workflow:read']);
  return { ...tenant, workflow, token };
}

const send = (method: string, path: string, token: string, body: unknown, headers: Record<string, string> = {}) =>
  fetch(service.url + path, {
    method,
    headers: { Authorization: `Bearer ${token}`, 'Content-Type': 'application/json', ...headers },
    body: body === undefined ? null : JSON.stringify(body),
  });
const start = (token: string, workflow: string, headers: Record<string, string> = {}) =>
  send('POST', `/v1/workflows/${workflow}/command`, token, { command: 'start' }, headers);

async function runsOf({ tenantId }: TestTenant): Promise<string[]> {
  const { rows } = await service.db.pool.query<{ id: string }>('SELECT id FROM runs WHERE tenant_id = $1', [tenantId]);
  return rows.map(({ id }) => id).sort();
}

describe('starts at the same time', () => {
  test.each([
    ['with no key', () => ({})],
    ['with one Idempotency-Key for all', () => ({ 'Idempotency-Key': 'the same' })],
  ])('reach only their own tenant, %s', async (_, headers) => {
    const before = { acme: await runsOf(acme), rival: await runsOf(rival) };
    const answers = await Promise.all(
      Array.from({ length: 15 }, () => [
        start(acme.token, acme.workflow, headers()),
        start(rival.token, rival.workflow, headers()),
        start(acme.token, rival.workflow, headers()),
        start(rival.token, acme.workflow, headers()),
      ]).flat(),
    );
    expect(answers.map(({ status }) => status)).toEqual(Array.from({ length: 15 }, () => [200, 200, 404, 404]).flat());
    const runIdsFrom = async (offset: number) => {
      const own = answers.filter((_, at) => at % 4 === offset);
      const bodies = (await Promise.all(own.map(answer => answer.json()))) as { run_id: string }[];
      return [...new Set(bodies.map(({ run_id }) => run_id))];
    };
    expect(await runsOf(acme)).toEqual([...before.acme, ...(await runIdsFrom(0))].sort());
    expect(await runsOf(rival)).toEqual([...before.rival, ...(await runIdsFrom(1))].sort());
  });
});

describe('right after a permitted start', () => {
  test('a revoked token starts nothing more', async () => {
    const { token, principal } = await createTestPat(service.container.services, acme.contributor, ['workflow:run']);
    const { token: admin } = await createTestPat(service.container.services, acme.owner, ['pat:manage']);
    expect((await start(token, acme.workflow)).status).toBe(200);
    const before = await runsOf(acme);
    const id = principal.credential.kind === 'pat' ? principal.credential.patId : '';
    expect((await send('DELETE', `/v1/pats/${id}`, admin, undefined)).status).toBe(200);
    expect((await start(token, acme.workflow)).status).toBe(401);
    expect(await runsOf(acme)).toEqual(before);
  });

  test('a contributor who becomes a viewer starts nothing more', async () => {
    const { services } = service.container;
    const member = await createTestMember(services, acme, 'project_contributor', 'soon-a-viewer@example.com');
    const { token } = await createTestPat(services, member, ['workflow:run']);
    const { token: admin } = await createTestPat(services, acme.owner, [...scopes]);
    expect((await start(token, acme.workflow)).status).toBe(200);
    const change = await send('PATCH', `/v1/members/${member.userId}`, admin, { role: 'project_viewer' });
    expect(change.status).toBe(200);
    expect((await start(token, acme.workflow)).status).toBe(403);
  });
});

describe('a workflow with steps that call services requires the scope of each', () => {
  const later = { depends_on: ['ask'] };
  const tool = { id: 'tool', type: 'mcp_call', ...later, tool_name: 'pay', instance_id: newId() };
  const model = { id: 'model', type: 'llm_call', ...later, model: 'openai/tiny', prompt: 'Hi.' };
  const request = { id: 'request', type: 'http_request', ...later, url: 'https://api.example.com/' };
  const cases: [string, object[], Scope[]][] = [
    ['tools', [tool], ['mcp:execute']],
    ['an HTTP request', [request], ['mcp:execute']],
    ['a model', [model], ['ai:use']],
    ['both', [tool, model], ['mcp:execute', 'ai:use']],
    ['a tool that is switched off', [{ ...tool, disabled: true }], ['mcp:execute']],
    ['none', [], []],
  ];
  const workflowOf = (steps: object[]) =>
    publishGraph(service.container.services, acme.owner, { steps: [...asking().steps, ...steps] } as Graph);
  const tokenOf = async (given: readonly Scope[]) =>
    (await createTestPat(service.container.services, acme.contributor, given)).token;
  const refused = async (response: Response, scope: Scope) => {
    const body = (await response.json()) as { error: string; code: string };
    expect([response.status, body.code]).toEqual([403, 'insufficient_scope']);
    expect(body.error).toContain(scope);
  };

  test.each(cases)('%s: by command and by rerun', async (_, steps, needed) => {
    const workflow = await workflowOf(steps);
    const before = await runsOf(acme);
    const allowed = await tokenOf(['workflow:run', ...needed]);
    const lacking = await Promise.all(
      needed.map(async scope => ({ scope, token: await tokenOf(scopes.filter(each => each !== scope)) })),
    );
    for (const { scope, token } of lacking) await refused(await start(token, workflow), scope);
    expect(await runsOf(acme)).toEqual(before);
    const { run_id } = (await (await start(allowed, workflow)).json()) as { run_id: string };
    const rerun = `/v1/workflows/${workflow}/runs/${run_id}/rerun`;
    for (const { scope, token } of lacking) await refused(await send('POST', rerun, token, {}), scope);
    expect((await send('POST', rerun, allowed, {})).status).toBe(200);
    expect((await start(allowed, workflow)).status).toBe(200);
  });

  test('over MCP as well', async () => {
    const workflow = await workflowOf([tool]);
    const call = async (given: readonly Scope[]) => {
      const response = await send(
        'POST',
        '/mcp',
        await tokenOf(given),
        {
          jsonrpc: '2.0',
          id: 1,
          method: 'tools/call',
          params: { name: 'workflows_execute_command', arguments: { id: workflow, command: 'start' } },
        },
        { Accept: 'application/json, text/event-stream' },
      );
      return response.text();
    };
    expect(await call(['workflow:run'])).toContain('mcp:execute');
    expect(await call(['workflow:run', 'mcp:execute'])).toContain('run_id');
  });

  test('the version that is started decides', async () => {
    const workflow = await workflowOf([tool]);
    const token = await tokenOf(['workflow:run', 'workflow:write']);
    await refused(await start(token, workflow), 'mcp:execute');
    const without = { graph: asking() };
    expect((await send('PATCH', `/v1/workflows/${workflow}`, token, without)).status).toBe(200);
    await refused(await start(token, workflow), 'mcp:execute');
    expect((await send('POST', `/v1/workflows/${workflow}/versions`, token, { changelog: '' })).status).toBe(201);
    expect((await start(token, workflow)).status).toBe(200);
  });
});
