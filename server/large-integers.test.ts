import type { McpServer } from '@modelcontextprotocol/sdk/server/mcp.js';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { WebSocket } from 'ws';
import { z } from 'zod';
import { scopes } from './orchestrator/ports/authority.ts';
import { isObject, type Json } from './platform/json.ts';
import { readJson } from './platform/json-text.ts';
import { startTestContainer, type TestContainer } from './testing/container.ts';
import { startHttpServer, type TestHttpServer } from './testing/http-server.ts';
import { createTestPat, createTestTenant } from './testing/identity.ts';
import { startToolServer } from './testing/mcp-servers.ts';
import { type ModelServer, startModelServer } from './testing/model-server.ts';
import { sign } from './testing/webhooks.ts';

/**
 * Integers of 64 bits keep their digits through every edge of the service, and larger ones are refused at each
 * (docs/specification/http.md#numbers). All values are sent and compared as text, as clients in other languages do.
 */
const IDS = ['7615917337495251231', '9007199254740993', '-9223372036854775808', '18446744073709551615'] as const;
const ID = IDS[0];
const ALL = `[${IDS.join(',')}]`;
const TOO_LARGE = '18446744073709551616';

let service: TestContainer;
let token: string;
let http: TestHttpServer;
let model: ModelServer;
let tools: Awaited<ReturnType<typeof startToolServer>>;
/** The arguments of each call, as the SDK's server read them. */
let toolCalls: string[] = [];

beforeAll(async () => {
  // The test servers parse JSON with the library's own parser, so arguments are compared in the text that they received.
  tools = await startToolServer({ configure: configureEcho });
  http = await startHttpServer({
    '/echo': ({ body }, response) => response.writeHead(200, { 'content-type': 'application/json' }).end(body),
    '/ids': (_, response) =>
      response.writeHead(200, { 'content-type': 'application/json' }).end(`{"id":${ID},"all":${ALL},"f":0.1}`),
    '/huge': (_, response) =>
      response.writeHead(200, { 'content-type': 'application/json' }).end(`{"list":[{"id":${TOO_LARGE}}]}`),
  });
  model = await startModelServer();
  service = await startTestContainer({ BATON_ALLOW_PRIVATE_NETWORK: '127.0.0.1/32' });
  const { services } = service.container;
  const tenant = await createTestTenant(services, { slug: 'acme' });
  token = (await createTestPat(services, tenant.owner, scopes)).token;
});
afterAll(async () => {
  await service.close();
  await http.close();
  await model.close();
  await tools[Symbol.asyncDispose]();
});

function configureEcho(server: McpServer): void {
  const anything = z.record(z.string(), z.unknown());
  server.registerTool('echo', { inputSchema: { value: z.unknown() } }, ({ value }) => {
    toolCalls.push(JSON.stringify(value));
    return { content: [{ type: 'text', text: `{"text_id":${ID},"all":${ALL}}` }] };
  });
  server.registerTool('structured', { inputSchema: {}, outputSchema: { id: z.unknown(), more: anything } }, () => ({
    content: [],
    structuredContent: { id: BigInt(ID), more: { all: IDS.map(BigInt) } },
  }));
}

type Answer = { status: number; text: string; body: { [field: string]: Json } };

/** Sends text, not a value, and returns the answer's text. */
async function send(
  method: string,
  path: string,
  body?: string,
  headers: Record<string, string> = {},
): Promise<Answer> {
  const response = await fetch(`${service.url}${path}`, {
    method,
    headers: { authorization: `Bearer ${token}`, 'content-type': 'application/json', ...headers },
    ...(body === undefined ? {} : { body }),
  });
  const text = await response.text();
  const read = text.startsWith('{') ? readJson(text) : {};
  return { status: response.status, text, body: isObject(read) ? read : {} };
}

async function created(path: string, body: string): Promise<Answer['body']> {
  const { status, text, body: answer } = await send('POST', path, body);
  expect(status, text).toBeLessThan(300);
  return answer;
}

async function publish(steps: string, output?: string): Promise<string> {
  const graph = `{"steps":${steps}${output === undefined ? '' : `,"output":${output}`}}`;
  const { id } = await created('/v1/workflows', `{"name":"Ids","graph":${graph}}`);
  await created(`/v1/workflows/${id}/versions`, '{"changelog":"first"}');
  return String(id);
}

/** Starts a run, waits for its end, and returns its context as text. */
async function ran(workflow: string, params = '{}'): Promise<{ run: string; text: string }> {
  const { run_id } = await created(`/v1/workflows/${workflow}/command`, `{"command":"start","params":${params}}`);
  const run = String(run_id);
  await expect
    .poll(async () => (await send('GET', `/v1/workflows/${workflow}/runs/${run}/summary`)).body.run_complete)
    .toBe(true);
  return { run, text: (await send('GET', `/v1/workflows/${workflow}/runs/${run}/context`)).text };
}

const step = (id: string, type: string, fields: string, after = '') =>
  `{"id":"${id}","type":"${type}"${after && `,"depends_on":["${after}"]`},${fields}}`;
const lua = (id: string, script: string, after = '') =>
  step(id, 'lua_script', `"script":${JSON.stringify(script)}`, after);

describe('the API', () => {
  test('keeps them in a draft, its version, its export, and an import of that', async () => {
    const fields = `"url":"${http.url}/echo","body":{"id":${ID},"all":${ALL}}`;
    const id = await publish(`[${step('a', 'http_request', `"method":"POST",${fields}`)}]`);
    const parts = [`"id":${ID}`, ...IDS];
    const draft = await send('GET', `/v1/workflows/${id}`);
    const version = await send('GET', `/v1/workflows/${id}/versions/1`);
    const list = await send('GET', '/v1/workflows?include=graph').then(answer =>
      answer.status === 200 ? answer : send('GET', '/v1/workflows'),
    );
    expect(list.status).toBe(200);
    const exported = await send('GET', `/v1/workflows/${id}/export`);
    for (const { text } of [draft, version, exported]) for (const part of parts) expect(text).toContain(part);
    const imported = await created('/v1/workflows/import', JSON.stringify({ document: exported.text }));
    const { text } = await send('GET', `/v1/workflows/${imported.id ?? (imported.workflow as { id: string }).id}`);
    for (const part of parts) expect(text).toContain(part);
  });

  test.each([TOO_LARGE, '-9223372036854775809', '1e400', '123456789012345678901234567890'])(
    'refuses %s with its path over REST, tRPC and MCP',
    async number => {
      const id = await publish(`[${lua('a', 'return 1')}]`);
      const params = `{"list":[{"id":${number}}]}`;
      const rest = await send('POST', `/v1/workflows/${id}/command`, `{"command":"start","params":${params}}`);
      expect(rest).toMatchObject({ status: 422, body: { code: 'validation_error' } });
      expect(rest.body.details).toMatchObject([
        { path: 'params.list[0].id', message: expect.stringMatching(/^is the /) },
      ]);
      const input = `{"id":"${id}","command":"start","params":${params}}`;
      const trpc = await send('POST', '/api/trpc/workflows_execute_command', input);
      expect(trpc.status).toBe(422);
      expect(trpc.text).toContain('"path":"params.list[0].id"');
      const call = `{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"workflows_execute_command","arguments":${input}}}`;
      const mcp = await send('POST', '/mcp', call);
      expect(mcp.text).toContain('params.arguments.params.list[0].id');
    },
  );
});

describe('a run', () => {
  test('keeps them from its input through Lua, CEL, templates and its output to every reader', async () => {
    const steps = [
      lua('script', 'return {input.id, input.all, {["of"] = {{input.id}}}, json.decode(json.encode(input.all))}'),
      step(
        'check',
        'condition',
        `"expression":"input.id == ${ID} && steps.script.result[1][3] == ${IDS[3]}u","then":["post"]`,
        'script',
      ),
      step(
        'post',
        'http_request',
        `"method":"POST","url":"${http.url}/echo","body":{"id":"{{input.id}}","text":"<{{input.id}}>","all":"{{steps.script.result[3]}}"}`,
        'check',
      ),
    ];
    const workflow = await publish(
      `[${steps.join(',')}]`,
      '{"id":"{{input.id}}","echoed":"{{steps.post.result.body}}"}',
    );
    const { run, text } = await ran(workflow, `{"id":${ID},"all":${ALL}}`);
    const echoed = `{"id":${ID},"text":"<${ID}>","all":${ALL}}`;
    expect(http.seen.at(-1)?.body).toBe(echoed);
    expect(text).toContain(`[${ID},${ALL},{"of":${ID}},${ALL}]`);
    const path = `/v1/workflows/${workflow}/runs/${run}`;
    for (const reader of ['events', 'context', 'steps/post', 'stream']) {
      const answer = await send('GET', `${path}/${reader}`);
      expect(answer.text, reader).toContain(`"body":${echoed}`);
    }
    const trpc = await send(
      'GET',
      `/api/trpc/runs_get_context?input=${encodeURIComponent(`{"id":"${workflow}","runID":"${run}"}`)}`,
    );
    expect(trpc.text).toContain(`"body":${echoed}`);
    expect(await framesOf(workflow, run)).toContain(`"body":${echoed}`);
    const rerun = await created(`${path}/rerun`, '{}');
    await expect
      .poll(async () => (await send('GET', `/v1/workflows/${workflow}/runs/${rerun.run_id}/context`)).text)
      .toContain(echoed);
  });

  test('keeps them in answers of HTTP servers and of tools, and sends them to both', async () => {
    const server = await created('/v1/mcp/servers', `{"name":"Ids","canonical_url":"${tools.url}"}`);
    await created(`/v1/mcp/servers/${server.id}/discover`, '{}');
    await created(`/v1/mcp/servers/${server.id}/versions`, '{"changelog":"first"}');
    const instance = await created('/v1/mcp/instances', `{"server_id":"${server.id}","name":"Ids"}`);
    const call = (id: string, tool: string, more = '', after = '') =>
      step(id, 'mcp_call', `"instance_id":"${instance.id}","tool_name":"${tool}"${more}`, after);
    const workflow = await publish(
      `[${step('get', 'http_request', `"url":"${http.url}/ids"`)},${call('echo', 'echo', `,"tool_args":{"value":{"id":"{{steps.get.result.body.id}}","all":${ALL}}}`, 'get')},${call('structured', 'structured')}]`,
    );
    toolCalls = [];
    const { text } = await ran(workflow);
    expect(text).toContain(`"body":{"id":${ID},"all":${ALL},"f":0.1}`);
    expect(text).toContain(`{"text_id":${ID},"all":${ALL}}`);
    expect(text).toContain(`"more":{"all":${ALL}}`);
    // The SDK's server rounds what it reads; the request itself had the digits.
    expect(toolCalls[0]).toContain(`"id":${Number(ID)}`);
    expect(tools.seen.length).toBeGreaterThan(0);
  });

  test('keeps them in a structured answer of a model', async () => {
    await created(
      '/v1/llm-provider-keys',
      `{"provider":"openai_compatible","base_url":"${model.url}/v1","api_key":"k","models":["ids"]}`,
    );
    model.reply({ text: `{"id":${ID},"all":${ALL}}` });
    const schema =
      '{"type":"object","properties":{"id":{"type":"integer"},"all":{"type":"array","items":{"type":"integer"}}},"required":["id"]}';
    const workflow = await publish(
      `[${step('ask', 'llm_call', `"model":"openai_compatible/ids","prompt":"{{input.id}}?","response_schema":${schema}`)}]`,
    );
    const { text } = await ran(workflow, `{"id":${ID}}`);
    expect(text).toContain(`"object":{"id":${ID},"all":${ALL}}`);
    expect(JSON.stringify(model.requests.at(-1)?.body)).toContain(`${ID}?`);
  });

  test('does not round a server’s numbers beyond 64 bits', async () => {
    const workflow = await publish(`[${step('get', 'http_request', `"url":"${http.url}/huge"`)}]`);
    const { run } = await ran(workflow);
    const { text, body } = await send('GET', `/v1/workflows/${workflow}/runs/${run}/summary`);
    expect(body.status).toBe('failed');
    expect(text).not.toContain(String(Number(TOO_LARGE)));
    expect(text).toContain('list[0].id');
    expect(text).toContain(TOO_LARGE);
  });

  test('is started by a webhook with 64-bit integers, and not with larger ones', async () => {
    const workflow = await publish(`[${lua('a', 'return input')}]`);
    const hook = await created('/v1/inbound-webhooks', `{"workflow_id":"${workflow}","name":"Ids"}`);
    const deliver = (body: string) =>
      send('POST', new URL(String(hook.ingress_url)).pathname, body, {
        'x-service-signature': sign(String(hook.signing_secret), body),
      });
    const { status, body } = await deliver(`{"id":${ID},"all":${ALL}}`);
    expect(status).toBe(202);
    await expect
      .poll(async () => (await send('GET', `/v1/workflows/${workflow}/runs/${body.run_id}/context`)).text)
      .toContain(`"result":{"all":${ALL},"id":${ID}}`);
    const refused = await deliver(`{"list":[{"id":${TOO_LARGE}}]}`);
    expect(refused.status).toBe(422);
    expect(refused.text).toContain('list[0].id');
  });
});

/** Returns the frames of a run's stream over WebSocket, up to the run's end. */
function framesOf(workflow: string, run: string): Promise<string> {
  const url = `${service.url.replace('http', 'ws')}/v1/workflows/${workflow}/stream?run_id=${run}&after=0`;
  const socket = new WebSocket(url, { headers: { authorization: `Bearer ${token}` } });
  let frames = '';
  return new Promise((resolve, reject) => {
    socket.on('error', reject);
    socket.on('message', data => {
      frames += String(data);
      if (!String(data).includes('"ready"')) return;
      socket.close();
      resolve(frames);
    });
  });
}
