import { afterAll, beforeAll, expect, test } from 'vitest';
import { newId } from '../../../platform/ids.ts';
import type { JsonObject } from '../../../platform/json.ts';
import { type ChatService, startChatService } from '../../../testing/chat.ts';
import { type OddServer, startOddServer } from '../../../testing/odd-mcp-server.ts';
import { reached } from '../../../testing/runs.ts';

let chat: ChatService;
let server: OddServer;
let instance: string;

const callOperation = (name: Parameters<ChatService['act']>[0], input: object) =>
  chat.act(name, input, chat.acme.contributor);

beforeAll(async () => {
  chat = await startChatService();
  server = await startOddServer({ tool: 'a choice as input schema', transport: 'events', envelope: 'null-error' });
  instance = await chat.instanceOf(server.url);
});
afterAll(async () => {
  await chat.close();
  await server[Symbol.asyncDispose]();
});

async function run(graph: object): Promise<JsonObject> {
  const { id } = await callOperation('workflows_create', { name: `W ${newId()}`, graph });
  await callOperation('workflows_publish_version', { id });
  const { run_id } = await callOperation('workflows_execute_command', { id, command: 'start', params: {} });
  const ref = { id, runID: String(run_id) };
  await reached(chat.service.container.services, chat.acme.contributor, ref);
  return (await callOperation('runs_get_summary', ref)) as unknown as JsonObject;
}

const call = (more: object = {}) => ({
  id: 'call',
  type: 'mcp_call',
  instance_id: instance,
  tool_name: 'good',
  ...more,
});

test('a step reads the text beside structured content, and text that is not an object or list', async () => {
  const output = { all: '{{steps.call.result}}' };
  server.set({ result: 'structured content and text' });
  expect((await run({ steps: [call()], output })).output).toEqual({ all: { a: 1, text: 'One.' } });
  server.set({ result: 'a number in text' });
  expect((await run({ steps: [call()], output })).output).toEqual({
    all: { content: [{ type: 'text', text: '1e5' }] },
  });
});

test.each(['error-with-data', 'details', 'http'] as const)(
  'a step reads the details of a failure: %s',
  async failure => {
    server.set({ failure });
    const summary = await run({
      steps: [
        call({ on_error: 'continue' }),
        { id: 'lua', type: 'lua_script', depends_on: ['call'], script: 'return steps.call.error.details.order' },
      ],
      output: { order: '{{steps.call.error.details.order}}', lua: '{{steps.lua.result}}' },
    });
    expect(summary.output).toEqual({ order: 7, lua: 7 });
    expect(summary.steps).toMatchObject([{ error: { details: { order: 7 } } }, {}]);
  },
);

test('an agent gets a schema that its provider accepts, and the published one is enforced', async () => {
  server.set({ result: 'a list in text' });
  const before = server.messages().filter(message => message === 'tools/call').length;
  const asks = (args: JsonObject) => ({ content: [{ calls: [{ name: 'odd', arguments: args }] }] });
  chat.fake.script({ answers: [asks({ id: '1', name: 'x' }), asks({ id: '1' }), { content: [{ text: 'Done.' }] }] });
  const first = chat.fake.requests.length;
  const tools = [{ type: 'mcp', instance_id: instance, tools: ['odd'], approval: 'auto' }];
  const agent = { id: 'agent', type: 'agent', model: 'openai_compatible/scripted', prompt: 'Find it.', tools };
  const summary = await run({ steps: [agent], output: '{{steps.agent.result}}' });
  expect(summary.output).toMatchObject({ text: 'Done.', turns: 3 });
  const requests = chat.fake.requests.slice(first).map(({ body }) => body as JsonObject);
  expect(requests[0]?.tools).toMatchObject([
    {
      function: {
        name: 'odd',
        description: expect.stringContaining('The arguments must also fit this JSON Schema: {"oneOf":'),
        parameters: { type: 'object', properties: { id: { type: 'string' }, name: { type: 'string' } } },
      },
    },
    { function: { name: 'read_result' } },
  ]);
  expect(JSON.stringify(requests[1]?.messages)).toContain('tool_args_invalid');
  expect(server.messages().filter(message => message === 'tools/call')).toHaveLength(before + 1);
});
