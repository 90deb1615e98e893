import { setTimeout as delay } from 'node:timers/promises';
import type { McpServer } from '@modelcontextprotocol/sdk/server/mcp.js';
import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest';
import { z } from 'zod';
import type { ScriptInput } from '../../../bin/fake-model/script.ts';
import { scopes } from '../../orchestrator/ports/authority.ts';
import { type ChatService, startChatService } from '../../testing/chat.ts';
import { createTestPat } from '../../testing/identity.ts';
import { startSdkServer, type TestServer } from '../../testing/mcp-server.ts';
import { auditLedger } from '../billing/ledger/audit-store.ts';

/** Tests the guarantees of docs/agents.md from outside: real HTTP, a scripted provider, a real tool server. */
let chat: ChatService;
let tools: TestServer;
let instance_id: string;
/** Resolves to end the calls of the tool `slow`. */
let slowCall = Promise.withResolvers<void>();

function configure(server: McpServer): void {
  const text = (said: string) => ({ content: [{ type: 'text' as const, text: said }] });
  const reads = { readOnlyHint: true, openWorldHint: false };
  const schema = z.strictObject({ n: z.number().optional() });
  server.registerTool('read', { inputSchema: schema, annotations: reads }, ({ n = 0 }) => text(`Read ${n}.`));
  server.registerTool('large', { inputSchema: schema, annotations: reads }, () => text('x'.repeat(5 * 1024 * 1024)));
  server.registerTool('slow', { inputSchema: schema, annotations: reads }, async () => {
    await slowCall.promise;
    return text('At last.');
  });
  server.registerTool('browse', { inputSchema: schema, annotations: { readOnlyHint: true } }, () => text('A page.'));
  server.registerTool('send', { inputSchema: schema, annotations: { destructiveHint: false } }, () => text('Sent.'));
}

type Json = Record<string, unknown>;
type Event = { seq: number; event_type: string; step_id?: string; data: Json };
const tokens = new Map<string, string>();

async function api(
  method: string,
  path: string,
  body?: unknown,
  by = 'owner',
): Promise<{ status: number; body: Json }> {
  const headers = { Authorization: `Bearer ${tokens.get(by)}`, 'Content-Type': 'application/json' };
  const init = { method, headers, ...(body !== undefined && { body: JSON.stringify(body) }) };
  const response = await fetch(`${chat.service.url}${path}`, init);
  const text = await response.text();
  return { status: response.status, body: text === '' ? {} : (JSON.parse(text) as Json) };
}
async function callApi(method: string, path: string, body?: unknown, by?: string): Promise<Json> {
  const answer = await api(method, path, body, by);
  expect(answer.status, `${path}: ${JSON.stringify(answer.body)}`).toBeLessThan(300);
  return answer.body;
}

beforeAll(async () => {
  chat = await startChatService();
  tools = await startSdkServer({ configure });
  const { services } = chat.service.container;
  const { owner, contributor } = chat.acme;
  for (const [name, principal] of Object.entries({ owner, contributor }))
    tokens.set(name, (await createTestPat(services, principal, scopes)).token);
  const server = await callApi('POST', '/v1/mcp/servers', { name: 'T', canonical_url: tools.url, auth_mode: 'none' });
  await callApi('POST', `/v1/mcp/servers/${server.id}/discover`, {});
  await callApi('POST', `/v1/mcp/servers/${server.id}/versions`, {});
  instance_id = String((await callApi('POST', '/v1/mcp/instances', { server_id: server.id, name: 'T' })).id);
});
afterAll(async () => {
  await chat.close();
  await tools[Symbol.asyncDispose]();
});
beforeEach(() => {
  chat.fake.requests.length = 0;
  slowCall = Promise.withResolvers();
});

type Ran = { id: string; runID: string; path: string };
const calls = (...names: string[]) => ({ calls: names.map(name => ({ name, arguments: {} })) });
const toolCalls = () =>
  tools.seen.flatMap(({ message, params }) =>
    message === 'tools/call' ? [params as { name: string; _meta: Json }] : [],
  );

async function start(answers: ScriptInput['answers'], more: Json = {}, by = 'owner'): Promise<Ran> {
  chat.fake.script({ answers });
  const model = 'openai_compatible/scripted';
  const { id } = await callApi('POST', '/v1/agents', {
    name: 'Clerk',
    model,
    tools: [{ type: 'mcp', instance_id, tools: ['*'] }],
    ...more,
  });
  const { run_id } = await callApi('POST', `/v1/agents/${id}/runs`, { input: { message: 'Go.' } }, by);
  return { id: String(id), runID: String(run_id), path: `/v1/workflows/${id}/runs/${run_id}` };
}
const summary = ({ path }: Ran) => callApi('GET', `${path}/summary`);
async function waitForPhase(run: Ran, wanted: string): Promise<void> {
  await expect.poll(async () => (await summary(run)).orchestration_phase).toBe(wanted);
}
async function waitForEnd(run: Ran): Promise<Json> {
  await expect.poll(async () => (await summary(run)).run_complete).toBe(true);
  return summary(run);
}
const eventsOf = async ({ path }: Ran) => (await callApi('GET', `${path}/events?limit=1000`)).events as Event[];
const command = ({ id, runID }: Ran, name: string, params: Json = {}) =>
  callApi('POST', `/v1/workflows/${id}/command`, { command: name, params: { run_id: runID, ...params } });
const decide = ({ path }: Ran, task: string, answer: Json, by?: string) =>
  api('POST', `${path}/tasks/${task}/complete`, answer, by);
/** Returns the tool results in the last request to the model. */
function lastToolResults(): string {
  const asked = z.object({ messages: z.array(z.looseObject({ role: z.string() })) });
  const { messages } = asked.parse(chat.fake.requests.at(-1)?.body);
  return JSON.stringify(messages.filter(({ role }) => role === 'tool'));
}

test('the log has no gap, each step ends once, and each attempt has its own idempotency key', async () => {
  const before = toolCalls().length;
  const signed = { calls: [{ name: 'read', arguments: { n: 1 }, signature: 'c2lnbmVkIGJ5IEdvb2dsZQ==' }] };
  const run = await start([{ content: [signed] }, { content: [{ text: 'Done.' }] }]);
  expect((await waitForEnd(run)).output).toMatchObject({
    text: 'Done.',
    ended_by: 'answered',
    turns: 2,
    tool_calls: 1,
  });
  const events = await eventsOf(run);
  expect(events.map(({ seq }) => seq)).toEqual(events.map((_, at) => at + 1));
  const ends = events.flatMap(({ event_type, step_id }) => (event_type === 'step_completed' ? [step_id] : []));
  expect(ends).toEqual(['agent.1', 'agent.1.1', 'agent.2', 'agent']);
  expect(toolCalls().slice(before)).toMatchObject([{ _meta: { idempotency_key: `${run.runID}:agent.1.1` } }]);
  // The signature of the provider returns to it unchanged.
  expect(chat.fake.requests[1]?.text).toContain('"c2lnbmVkIGJ5IEdvb2dsZQ=="');
  expect(chat.fake.requests.map(({ headers }) => headers['idempotency-key'])).toEqual([
    `${run.runID}:agent.1`,
    `${run.runID}:agent.2`,
  ]);
});

test('only one of two concurrent answers to a task counts, and other calls of the turn are not repeated', async () => {
  const before = toolCalls().length;
  const run = await start([{ content: [calls('send', 'read', 'send')] }, { content: [{ text: 'Done.' }] }]);
  await waitForPhase(run, 'blocked');
  const statuses = await Promise.all([
    decide(run, 'agent.1.1.ok', { approved: true }),
    decide(run, 'agent.1.1.ok', { approved: false }, 'contributor'),
  ]);
  expect(statuses.map(({ status }) => status).sort()).toEqual([200, 409]);
  await decide(run, 'agent.1.3.ok', { approved: false, result: { reason: 'Once is enough.' } });
  await waitForEnd(run);
  const approved = statuses[0].status === 200 ? ['send'] : [];
  expect(
    toolCalls()
      .slice(before)
      .map(({ name }) => name)
      .sort(),
  ).toEqual(['read', ...approved].sort());
  expect(lastToolResults()).toContain('Once is enough.');
});

describe('limits', () => {
  const endless: ScriptInput['answers'] = [
    { match: { last: 'You have reached the limit' }, content: [{ text: 'So far.' }] },
    { match: { any: 'Go.' }, content: [calls('read')], usage: { input: 4_000, output: 4_000 } },
  ];
  test.each([
    ['max_turns', { max_turns: 2 }],
    ['max_tool_calls', { max_tool_calls: 1 }],
    ['repeated_calls', {}],
    ['budget', { budget_credits: 0.6 }],
  ])('the limit %s ends the agent with an answer, or with a failure if on_limit is fail', async (limit, limits) => {
    const answered = await waitForEnd(await start(endless, { limits }));
    expect(answered).toMatchObject({ status: 'completed', output: { ended_by: limit, complete: false } });
    const failed = await waitForEnd(await start(endless, { limits, on_limit: 'fail' }));
    expect(failed).toMatchObject({ status: 'failed', error: { code: expect.stringContaining(limit) } });
    if (limit === 'budget')
      for (const { credits_microcredits: spent } of [answered, failed]) {
        // The agent exceeds its budget by at most one turn, which costs a quarter of a credit.
        expect(spent).toBeGreaterThan(250_000);
        expect(spent).toBeLessThan(850_000);
      }
  });

  test('an agent in a graph cannot be retried as a whole', async () => {
    const step = { id: 'ask', type: 'agent', prompt: 'Go.', model: 'openai_compatible/scripted', retry_count: 1 };
    const { id } = await callApi('POST', '/v1/workflows', { name: 'Retried', graph: { steps: [step] } });
    const refused = await api('POST', `/v1/workflows/${id}/versions`, {});
    expect(refused).toMatchObject({ status: 422, body: { details: [{ code: 'retries_not_supported' }] } });
  });
});

test('a result of 5 MiB is shortened for the model, and a hanging call ends at the time limit of the agent', async () => {
  const large = await waitForEnd(await start([{ content: [calls('large')] }, { content: [{ text: 'Enough.' }] }]));
  expect(large.output).toMatchObject({ text: 'Enough.', ended_by: 'answered', tool_calls: 1 });
  expect(lastToolResults()).toMatch(/characters left out|too_large/);
  expect(lastToolResults().length).toBeLessThan(20_000);
  const closing = { match: { last: 'You have reached the limit timeout' }, content: [{ text: 'So far.' }] };
  const run = await start([closing, { content: [calls('slow')] }], { limits: { timeout_s: 1 } });
  expect((await waitForEnd(run)).output).toMatchObject({ text: 'So far.', ended_by: 'timeout', complete: false });
  slowCall.resolve();
});

test('an immediate stop closes the connection to the provider within a second; a graceful stop lets the call end', async () => {
  const held = await start([{ content: [{ text: 'Half' }, { hold: 'stopped' }] }]);
  await chat.fake.held('stopped');
  const left = chat.fake.requests.at(-1)?.left;
  await command(held, 'stop');
  // The second is 100 timers of 10 ms: a process without CPU time notices late that the connection has ended.
  const second = async () => {
    for (let turn = 0; turn < 100; turn += 1) await delay(10);
    throw new Error('The connection to the provider is still open.');
  };
  await Promise.race([left, second()]);
  expect(await waitForEnd(held)).toMatchObject({ status: 'stopped' });

  const graceful = await start([{ content: [calls('slow')] }, { content: [{ text: 'Never.' }] }]);
  await expect
    .poll(() => toolCalls().map(({ _meta }) => _meta.idempotency_key))
    .toContain(`${graceful.runID}:agent.1.1`);
  await command(graceful, 'stop', { mode: 'graceful' });
  slowCall.resolve();
  expect(await waitForEnd(graceful)).toMatchObject({ status: 'stopped' });
  const steps = (await eventsOf(graceful)).flatMap(({ event_type, step_id }) =>
    event_type === 'step_completed' ? [step_id] : [],
  );
  expect(steps).toEqual(['agent.1', 'agent.1.1']);
});

test('after a demotion during a turn, a call that writes needs the approval of a contributor', async () => {
  const before = toolCalls().length;
  const { contributor } = chat.acme;
  const approval = { tools: [{ type: 'mcp', instance_id, tools: ['send'], approval: 'auto' }] };
  const answers = [{ content: [{ hold: 'demoted' }, calls('send')] }, { content: [{ text: 'Done.' }] }];
  const run = await start(answers, approval, 'contributor');
  await chat.fake.held('demoted');
  const demote = (role: string) =>
    chat.service.db.pool.query('UPDATE project_members SET role = $2 WHERE user_id = $1', [contributor.userId, role]);
  await demote('project_viewer');
  chat.fake.release('demoted');
  await waitForPhase(run, 'blocked');
  expect(toolCalls().slice(before)).toEqual([]);
  await demote('project_contributor');
  await decide(run, 'agent.1.1.ok', { approved: true });
  await waitForEnd(run);
  expect(
    toolCalls()
      .slice(before)
      .map(({ name }) => name),
  ).toEqual(['send']);
});

test('after text from outside, a tool that sends asks even if a wildcard allows it', async () => {
  const tools = [{ type: 'mcp', instance_id, tools: ['*'], approval: 'auto' }];
  const answers = [calls('send'), calls('browse'), calls('send')].map(piece => ({ content: [piece] }));
  const run = await start([...answers, { content: [{ text: 'Done.' }] }], { tools });
  await waitForPhase(run, 'blocked');
  expect((await callApi('GET', `${run.path}/tasks`)).tasks).toMatchObject([{ task_id: 'agent.3.1.ok' }]);
  await decide(run, 'agent.3.1.ok', { approved: true });
  await waitForEnd(run);
});

test('the ledger agrees with the charges of all runs above', async () => {
  const { differences, runs } = await auditLedger(chat.service.db.pool, { now: Date.now() });
  expect(differences).toEqual([]);
  expect(runs.compared).toBeGreaterThan(10);
});
