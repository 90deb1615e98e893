import { encode } from 'next-auth/jwt';
import { expect, vi } from 'vitest';
import { connectionExample, furtherExamples, modelKeyExample, requiredExamples } from '../api/examples.ts';
import { operations } from '../api/operations.ts';
import { createRegistry, type RegisteredOperation } from '../api/registry.ts';
import type { Principal } from '../operation/context.ts';
import type { Services } from '../operation/services.ts';
import { scopes } from '../orchestrator/ports/authority.ts';
import { newId } from '../platform/ids.ts';
import { createTestCode } from './billing/codes.ts';
import { startTestContainer, type TestContainer } from './container.ts';
import { readAnswer } from './http-answer.ts';
import { createTestPat, createTestTenant, type TestTenant } from './identity.ts';
import { startToolServer } from './mcp-servers.ts';

export type Name = (typeof operations)[number]['name'];
type Ids = Record<string, string>;
/** Path parameters that are version numbers, not ids, each with the number of a version that does not exist. */
export const absentVersions: Readonly<Ids> = { 'versions/version': '7', 'versions/a': '7', 'diff/b': '7' };
/** Ids of one tenant's resources, by the path parameter and the segment before it: `workflows/id`, `runs/runID`. */
export type World = TestTenant & { ids: Ids };

/** The registry of all operations. */
export const registry = createRegistry(operations);

/** The whole service with two tenants that have one of every resource, and functions that call it. */
export type TestWorlds = {
  service: TestContainer;
  acme: World;
  rival: World;
  /** The token of the rival's owner, with every scope. */
  rivalToken: string;
  request(method: string, path: string, sent: Sent): Promise<Answer>;
  /** A valid request of the operation, with `extra` fields. */
  call(entry: RegisteredOperation, ids: Ids, sent: Sent, extra?: Record<string, unknown>): Promise<Answer>;
  cookieFor(principal: Principal): Promise<string>;
  close(): Promise<void>;
};

/** `tenant`: X-Tenant-Id. `project`: X-Project-Id. */
export type Sent = { token?: string; cookie?: string; tenant?: string; project?: string; body?: unknown };
export type Answer = Awaited<ReturnType<typeof send>>;

export async function startTestWorlds(env: Record<string, string> = {}): Promise<TestWorlds> {
  const toolServer = await startToolServer();
  const service = await startTestContainer({
    ...connectFeatures(toolServer.url),
    BATON_ALLOW_PRIVATE_NETWORK: '127.0.0.1/32',
    BATON_RATE_LIMIT_UNAUTHENTICATED_PER_MINUTE: '0',
    // The limit is off, because hostile requests must reach the codes themselves.
    BATON_RATE_LIMIT_WRONG_CODES_PER_HOUR: '0',
    ...env,
  });
  const api = { url: service.url, services: service.container.services };
  const acme = await createWorld(api, toolServer.url, 'acme');
  const rival = await createWorld(api, toolServer.url, 'rival');
  const { token: rivalToken } = await createTestPat(service.container.services, rival.owner, scopes);
  return {
    service,
    acme,
    rival,
    rivalToken,
    ...callsTo(service.url),
    async cookieFor({ userId }) {
      const secret = service.container.identity.sessionSecret;
      // Read now, because an operation may have ended the user's sessions.
      const user = await service.db.prisma.user.findUniqueOrThrow({ where: { id: userId } });
      const token = { sub: userId, sessionEpoch: user.sessionEpoch };
      return `next-auth.session-token=${await encode({ secret, token })}`;
    },
    async close() {
      await service.close();
      await toolServer[Symbol.asyncDispose]();
    },
  };
}

/** Returns functions that call the service at `url`. */
export function callsTo(url: string): Pick<TestWorlds, 'request' | 'call'> {
  const request: TestWorlds['request'] = (method, path, sent) => send(url, method, path, sent);
  return {
    request,
    call(entry, ids, sent, extra = {}) {
      const { method, name } = entry.operation;
      const fields = { ...inWorld(fieldsOf(name as Name), ids), ...extra };
      const path = pathIn(entry, ids);
      if (entry.carrier === 'body') return request(method, path, { ...sent, body: fields });
      const query = new URLSearchParams(fields as Record<string, string>).toString();
      return request(method, query ? `${path}?${query}` : path, sent);
    },
  };
}

/** Returns settings that enable every feature. No authorization server exists at the address; the messaging API knows no account. */
export function connectFeatures(messagingUrl: string): Record<string, string> {
  const endpoints = (of: string) => ({
    [`BATON_${of}_AUTHORIZATION_ENDPOINT`]: 'http://127.0.0.1:9/authorize',
    [`BATON_${of}_TOKEN_ENDPOINT`]: 'http://127.0.0.1:9/token',
    [`BATON_${of}_CLIENT_ID`]: 'baton',
    [`BATON_${of}_CLIENT_SECRET`]: 'secret',
  });
  // No server listens at this address: mail is lost.
  const mail = { BATON_SMTP_URL: 'smtp://127.0.0.1:9', BATON_MAIL_FROM: 'baton@example.com' };
  return {
    ...mail,
    ...endpoints('SUITE'),
    ...endpoints('MESSAGING'),
    BATON_ENABLE_AGENTS: 'true',
    BATON_MESSAGING_API_URL: `${messagingUrl}/accounts`,
  };
}

/** Creates a tenant with one of every resource through the API; `services` share its database. */
export async function createWorld(
  { url, services }: { url: string; services: Services },
  toolUrl: string,
  slug: string,
): Promise<World> {
  const request = (method: string, path: string, sent: Sent) => send(url, method, path, sent);
  const tenant = await createTestTenant(services, { slug });
  const { token } = await createTestPat(services, tenant.owner, scopes);
  await createTestCode(services.pool, { code: 'CREDITS', kind: 'credits', value: 1_000_000 });
  await createTestCode(services.pool, { code: 'TENTH', kind: 'percent', value: 10 });
  const post = async (path: string, body: unknown): Promise<Record<string, string>> => {
    const { status, body: answer } = await request('POST', path, { token, body });
    expect(status, `${path}: ${JSON.stringify(answer)}`).toBeLessThan(300);
    return answer;
  };
  const { id: workflow = '' } = await post('/v1/workflows', {
    name: 'First',
    graph: { steps: [{ id: 'approve', type: 'human_task', name: 'Approve' }] },
  });
  await post(`/v1/workflows/${workflow}/versions`, { changelog: 'first' });
  const { run_id = '' } = await post(`/v1/workflows/${workflow}/command`, { command: 'start' });
  const pending = `/v1/workflows/${workflow}/runs/${run_id}/tasks/pending`;
  const expectPendingTask = async () => expect((await request('GET', pending, { token })).body.tasks).toHaveLength(1);
  // expect.poll works only in tests, and worlds are created before them.
  await vi.waitFor(expectPendingTask, { timeout: 60_000 });
  const { id: project = '' } = await post('/v1/projects', { name: 'spare' });
  const { id: invitation = '' } = await post('/v1/invitations', {
    email: `i@${slug}.example.com`,
    role: 'project_viewer',
  });
  const { id: pat = '' } = await post('/v1/pats', { display_name: 'spare', scopes: ['workflow:read'] });
  const { ingress_path = '' } = await post('/v1/inbound-webhooks', { workflow_id: workflow, name: 'Orders' });
  const { id: server = '' } = await post('/v1/mcp/servers', { name: 'Tools', canonical_url: toolUrl });
  await post(`/v1/mcp/servers/${server}/discover`, {});
  await post(`/v1/mcp/servers/${server}/versions`, { changelog: 'first' });
  const { id: instance = '' } = await post('/v1/mcp/instances', { server_id: server, name: 'Tools' });
  const { id: profile = '' } = await post(`/v1/mcp/instances/${instance}/config-profiles`, { name: 'live' });
  const memory = await rememberSomething(post, path => request('GET', path, { token }));
  const { id: key = '' } = await post('/v1/llm-provider-keys', modelKeyExample);
  const { id: agent = '' } = await post('/v1/agents', { name: 'First', model: 'openai_compatible/any' });
  const { id: proposal = '' } = await post('/v1/autopilot/proposals', { workflow_id: workflow, title: 'First' });
  await post(`/v1/autopilot/proposals/${proposal}/trial`, { checks: [{ step: 'approve', op: 'completed' }] });
  // A separate agent: the workspace's usage, which the administrators of every project see, names agents that have run.
  const { id: chatting = '' } = await post('/v1/agents', { name: 'Chatting', model: 'openai_compatible/any' });
  const { id: thread = '' } = await post('/v1/chat/threads', { agent_id: chatting, visibility: 'project' });
  const { message_id: message = '' } = await post(`/v1/chat/threads/${thread}/messages`, { text: 'Hello' });
  const ids = {
    ...memory,
    ...(await stopNothing(post)),
    'proposals/id': proposal,
    // A run would appear in the workspace's usage, which the administrators of every project see.
    'extract/jobId': newId(),
    'workflows/id': workflow,
    'versions/version': '1',
    'versions/a': '1',
    'diff/b': '1',
    'runs/runID': run_id,
    'recalls/runID': run_id,
    'tasks/task_id': 'approve',
    'steps/step_id': 'approve',
    'payloads/payload_id': newId(),
    'projects/id': project,
    'members/user_id': tenant.viewer.userId,
    'invitations/id': invitation,
    'pats/id': pat,
    'connections/id': (await post('/v1/connections', connectionExample)).id ?? '',
    // The legacy path also deletes a connection, so it needs a separate one.
    'mcp/connections/id': (await post('/v1/connections', connectionExample)).id ?? '',
    'connections/connection_id': (await post('/v1/connections', connectionExample)).id ?? '',
    'llm-provider-keys/id': key,
    'agents/id': agent,
    'threads/id': thread,
    // Grants are created by approving a call, which needs a model that makes one.
    'grants/grant_id': newId(),
    'messages/message_id': message,
    'servers/id': server,
    'instances/id': instance,
    'config-profiles/profile_id': profile,
    'accounts/connectionId': newId(),
    'inbound-webhooks/id': ingress_path.replace('/v1/inbound-webhooks/', ''),
  };
  return { ...tenant, ids };
}

/** Creates a bulk stop and a bulk action that match no run, and a view of the list. */
async function stopNothing(post: (path: string, body: object) => Promise<Record<string, string>>) {
  const { stop_id = '' } = await post('/v1/runs/stop', { filter: { session_id: 'none' } });
  const { job_id = '' } = await post('/v1/runs/bulk', { action: 'stop', filter: { from: '2100-01-01T00:00:00Z' } });
  const { id = '' } = await post('/v1/runs/views', { name: 'Waiting', filters: { status: 'running' } });
  return { 'stops/stop_id': stop_id, 'bulk/job_id': job_id, 'views/view_id': id };
}

/** Creates an episode of the project, and an item that waits for review. */
async function rememberSomething(
  post: (path: string, body: unknown) => Promise<Record<string, string>>,
  get: (path: string) => Promise<Answer>,
): Promise<Ids> {
  const { episode_id: episode = '' } = await post('/v1/memory/index-conversation', {
    thread_id: 'first',
    turns: [{ role: 'user', text: 'We moved to Porto.' }],
    visibility: 'project',
  });
  const { body } = await get(`/v1/memory/episodes/${episode}`);
  const evidence = [{ chunk_id: body.chunks[0].id, quote: 'moved to Porto' }];
  const item = { subject: 'office', text: 'The office is in Porto.', evidence, visibility: 'project' };
  const proposed: { items?: unknown } = await post('/v1/memory/items', { items: [item] });
  const [first] = proposed.items as { id: string }[];
  return { 'episodes/id': episode, 'items/id': first?.id ?? '' };
}

async function send(url: string, method: string, path: string, { token, cookie, tenant, project, body }: Sent) {
  const response = await fetch(url + path, {
    method,
    headers: {
      // MCP requires both types; the other surfaces ignore the header.
      Accept: 'application/json, text/event-stream',
      ...(token === undefined ? {} : { Authorization: `Bearer ${token}` }),
      ...(cookie === undefined ? {} : { Cookie: cookie, 'Sec-Fetch-Site': 'same-origin' }),
      ...(tenant === undefined ? {} : { 'X-Tenant-Id': tenant }),
      ...(project === undefined ? {} : { 'X-Project-Id': project }),
      ...(body === undefined ? {} : { 'Content-Type': 'application/json' }),
    },
    body: body === undefined ? undefined : JSON.stringify(body),
  });
  const text = await readAnswer(response);
  const isJson = response.headers.get('content-type')?.startsWith('application/json') === true;
  return { status: response.status, body: text === '' ? undefined : isJson ? JSON.parse(text) : text };
}

/** Returns the world's ids for the path parameters; an unknown kind of resource fails with the id to add. */
export function parametersIn({ operation: { path } }: RegisteredOperation, ids: Ids): Map<string, string> {
  const parameters = [...path.matchAll(/([a-z-]+)\/\{(\w+)\}/g)].map(([, segment = '', parameter = '']) => {
    const key = `${segment}/${parameter}`;
    const id = (path.startsWith('/v1/mcp/') ? ids[`mcp/${key}`] : undefined) ?? ids[key];
    if (id === undefined) throw new Error(`This test has no example of ${segment}/{${parameter}}.`);
    return [parameter, id] as const;
  });
  return new Map(parameters);
}

/** Returns the path with the world's ids in it. */
export function pathIn(entry: RegisteredOperation, ids: Ids): string {
  const parameters = parametersIn(entry, ids);
  return entry.operation.path.replace(/\{(\w+)\}/g, (_, name: string) => parameters.get(name) ?? '');
}

export function fieldsOf(name: Name): Record<string, unknown> {
  return requiredExamples[name] ?? furtherExamples[name] ?? {};
}

/** Returns the fields with the world's ids in them. */
export function inWorld(fields: Record<string, unknown>, ids: Ids): Record<string, unknown> {
  const fill = (value: unknown): unknown => {
    if (Array.isArray(value)) return value.map(fill);
    const placed = typeof value === 'string' ? /^\{(.*)\}$/.exec(value)?.[1] : undefined;
    return placed === undefined ? value : ids[placed];
  };
  return Object.fromEntries(Object.entries(fields).map(([key, value]) => [key, fill(value)]));
}
