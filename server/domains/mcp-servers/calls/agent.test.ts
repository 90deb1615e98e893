import type { McpServer } from '@modelcontextprotocol/sdk/server/mcp.js';
import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest';
import { z } from 'zod';
import type { FakeModel } from '../../../../bin/fake-model/server.ts';
import { newId } from '../../../platform/ids.ts';
import { type ChatService, startChatService } from '../../../testing/chat.ts';
import type { TestContainer } from '../../../testing/container.ts';
import type { TestTenant } from '../../../testing/identity.ts';
import { reached } from '../../../testing/runs.ts';

/** The text and the idempotency key of each call of the tool `note`, in order. */
let noted: unknown[] = [];

function configure(server: McpServer): void {
  server.registerTool(
    'add',
    {
      inputSchema: z.strictObject({ a: z.number(), b: z.number() }),
      annotations: { readOnlyHint: true, openWorldHint: false },
    },
    ({ a, b }) => ({ content: [{ type: 'text', text: JSON.stringify({ sum: a + b }) }] }),
  );
  server.registerTool('note', { inputSchema: z.strictObject({ text: z.string() }) }, ({ text }, { _meta }) => {
    noted.push({ text, key: _meta?.idempotency_key });
    return { content: [{ type: 'text', text: 'Noted.' }] };
  });
}

type Made = { id: string } & Record<string, unknown>;
type Event = { event_type: string; step_id?: string; data: Record<string, unknown> };

let chat: ChatService;
let service: TestContainer;
let fake: FakeModel;
let acme: TestTenant;
let instance: string;

const callOperation = (name: Parameters<ChatService['act']>[0], input: object, by = acme.contributor) =>
  chat.act(name, input, by);

beforeAll(async () => {
  chat = await startChatService();
  ({ service, fake, acme } = chat);
  instance = await chat.serveTools(configure);
});
afterAll(() => chat.close());
beforeEach(() => {
  noted = [];
  fake.requests.length = 0;
});

const step = (more: object = {}) => ({
  id: 'research',
  type: 'agent',
  model: 'openai_compatible/scripted',
  prompt: 'Add 1 and 2, and note it.',
  tools: [{ type: 'mcp', instance_id: instance, tools: ['*'] }],
  ...more,
});
const create = (...steps: object[]) => callOperation('workflows_create', { name: `W ${newId()}`, graph: { steps } });

async function start(...steps: object[]) {
  const { id } = await create(...steps);
  await callOperation('workflows_publish_version', { id });
  const { run_id } = await callOperation('workflows_execute_command', { id, command: 'start', params: {} });
  return { id, runID: String(run_id) };
}
const eventsOf = async (ref: { id: string; runID: string }) =>
  (await callOperation('runs_list_events', { ...ref, limit: 200 })).events as unknown as Event[];

async function problems(more: object): Promise<string[]> {
  const { id } = await create(step(more));
  const { errors } = (await callOperation('workflows_validate', { id })) as unknown as {
    errors: { path: string; code: string }[];
  };
  return errors.map(({ path, code }) => `${path} ${code}`);
}

describe('publishing checks an agent', () => {
  test.each([
    [{}, []],
    [{ retry_count: 1 }, ['retry_count retries_not_supported']],
    [{ model: 'openai_compatible/other' }, ['model unknown_model']],
    [{ tools: [{ type: 'mcp', instance_id: 'none', tools: ['*'] }] }, ['tools[0].instance_id unknown_instance']],
    [{ limits: { max_turns: 0 } }, ['limits.max_turns invalid_field']],
    [{ prompt: '{{steps.later.result}}' }, ['prompt unknown_step']],
    [{ response_schema: { type: 'array' } }, ['response_schema.type response_schema_invalid']],
    [{ type: 'agent_turn' }, ['type unknown_type']],
    [{ type: 'agent_tool' }, ['type unknown_type']],
    [{ type: 'agent_approval' }, ['type unknown_type']],
  ])('%j', async (more, expected) => {
    expect(await problems(more)).toEqual(expected);
  });

  test('its tools, by their names in the published version', async () => {
    const entry = { type: 'mcp', instance_id: instance, tools: ['add', 'subtract'] };
    expect(await problems({ tools: [entry] })).toEqual(['tools[0].tools[1] unknown_tool']);
  });
});

test('an instance and a model key are in use while an agent has them', async () => {
  const { id } = await create(step());
  const { used_by } = (await callOperation('mcp_instances_get', { id: instance })) as unknown as { used_by: object[] };
  expect(used_by).toContainEqual(expect.objectContaining({ workflow_id: id, draft: true }));
  await expect(callOperation('mcp_instances_delete', { id: instance })).rejects.toMatchObject({
    code: 'instance_in_use',
  });
  const { keys } = (await callOperation('llm_provider_keys_list', {}, acme.owner)) as unknown as { keys: Made[] };
  const deletion = callOperation('llm_provider_keys_delete', { id: keys[0]?.id }, acme.owner);
  await expect(deletion).rejects.toMatchObject({ status: 409 });
});

describe('an agent', () => {
  test('calls its tools, asks in the inbox for those that write, and answers', async () => {
    fake.script({
      answers: [
        {
          content: [
            { text: 'Adding.' },
            {
              calls: [
                { name: 'add', arguments: { a: 1, b: 2 } },
                { name: 'note', arguments: { text: '3' } },
              ],
            },
          ],
          usage: { input: 20, output: 10 },
        },
        { content: [{ text: 'It is 3.' }], usage: { input: 40, output: 5 } },
      ],
    });
    const ref = await start(step());
    await reached(service.container.services, acme.contributor, ref, 'blocked');
    await callOperation('tasks_complete', { ...ref, task_id: 'research.1.2.ok', approved: true });
    await reached(service.container.services, acme.contributor, ref);
    const events = await eventsOf(ref);
    const result = events.findLast(event => event.event_type === 'step_completed' && event.step_id === 'research');
    expect(result?.data.result).toMatchObject({
      text: 'It is 3.',
      ended_by: 'answered',
      turns: 2,
      tool_calls: 2,
      usage: { input_tokens: 60, output_tokens: 15 },
    });
    expect(noted).toEqual([{ text: '3', key: `${ref.runID}:research.1.2` }]);
  });
});
