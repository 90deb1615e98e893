import type { McpServer } from '@modelcontextprotocol/sdk/server/mcp.js';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { z } from 'zod';
import type { Graph } from '../../orchestrator/core/index.ts';
import { type ChatService, startChatService } from '../../testing/chat.ts';
import { createTestTenant } from '../../testing/identity.ts';
import { publishGraph, reached } from '../../testing/runs.ts';

/** Tests attacks on workflows and agents that are tools. */
const noted: string[] = [];
function configure(server: McpServer): void {
  for (const name of ['note', 'read_result'])
    server.registerTool(name, { inputSchema: z.looseObject({}), annotations: { openWorldHint: false } }, () => {
      noted.push(name);
      return { content: [{ type: 'text', text: 'Noted.' }] };
    });
}

let chat: ChatService;
let instance_id: string;
const callOperation = (...args: Parameters<ChatService['act']>) => chat.act(...args);
beforeAll(async () => {
  chat = await startChatService();
  instance_id = await chat.serveTools(configure);
});
afterAll(() => chat.close());

type Ref = { id: string; runID: string };
type Json = Record<string, unknown>;
const model = 'openai_compatible/scripted';
const call = (name: string, args: object = {}) => ({ name, arguments: args });
const calls = (...list: object[]) => ({ content: [{ calls: list }] });
const textAnswer = (text: string) => ({ content: [{ text }] });
const script = (...answers: object[]) => chat.fake.script({ answers } as never);
const lua = (source: string) => ({ steps: [{ id: 'say', type: 'lua_script', script: source }] });
const waits = { steps: [{ id: 'ask', type: 'human_task', instructions: 'Is it?' }] };
const workflowTools = (...workflow_ids: string[]) => ({ type: 'workflow', workflow_ids, approval: 'auto' });
const clerk = (tools: object[], more: object = {}) => ({
  steps: [{ id: 'clerk', type: 'agent', model, prompt: '{{input.prompt ?? "Go."}}', tools, ...more }],
});

async function publish(name: string, graph: object): Promise<string> {
  const { id } = await callOperation('workflows_create', { name, graph });
  await callOperation('workflows_publish_version', { id });
  return id;
}
async function start(id: string, input: object = {}): Promise<Ref> {
  const params = { trigger_payload: input };
  return { id, runID: (await callOperation('workflows_execute_command', { id, command: 'start', params })).run_id };
}
const waitForEnd = (ref: Ref) => reached(chat.service.container.services, chat.acme.owner, ref);
const readSummary = async (ref: Ref) =>
  (await callOperation('runs_get_summary', ref)) as unknown as { status: string; output: Json & { text: string } };
async function calledBy(ref: Ref): Promise<Ref[]> {
  const { called_runs } = (await callOperation('runs_list_called', { ...ref, limit: 50 })) as unknown as {
    called_runs: { run_id: string; workflow_id: string }[];
  };
  return called_runs.map(({ run_id, workflow_id }) => ({ id: workflow_id, runID: run_id }));
}
async function eventOf(ref: Ref, step_id: string, event_type: string): Promise<Json | undefined> {
  const { events } = (await callOperation('runs_list_events', { ...ref, limit: 200 })) as unknown as {
    events: { event_type: string; step_id?: string; data: Json }[];
  };
  return events.find(event => event.step_id === step_id && event.event_type === event_type)?.data;
}
type Request = { tools?: { function: { name: string; description?: string } }[] };
/** Returns the descriptions of the tools in the last request to the model, by name. */
const offered = () =>
  new Map(
    ((chat.fake.requests.at(-1)?.body as Request | undefined)?.tools ?? []).map(
      ({ function: { name, description } }) => [name, description ?? ''],
    ),
  );
const lastSent = () => JSON.stringify(chat.fake.requests.at(-1)?.body);

describe('ids that a template writes', () => {
  test('name no tool, for any input', async () => {
    const own = await publish('Own', lua('return "own"'));
    const other = await createTestTenant(chat.service.container.services, { slug: 'other' });
    const theirs = await publishGraph(chat.service.container.services, other.owner, lua('return "x"') as Graph);
    const template = '{{input.target}}';
    const graph = clerk([
      workflowTools(template, own),
      { type: 'agent', agent_id: template, approval: 'auto' },
    ]) as unknown as Graph;
    // This bypasses validation, which would refuse the templates.
    const id = await publishGraph(chat.service.container.services, chat.acme.owner, graph);
    for (const target of [theirs, own, id, '*']) {
      script(calls(call('own'), call(target), call('workflow'), call('tool')), textAnswer('Done.'));
      const ref = await start(id, { target });
      await waitForEnd(ref);
      expect([...offered().keys()].toSorted()).toEqual(['own', 'read_result']);
      expect((await calledBy(ref)).map(({ id: of }) => of)).toEqual([own]);
    }
  });

  test('are refused in place of the whole list, and a start cannot override the list', async () => {
    const own = await publish('Own', lua('return "own"'));
    const { id: draft } = await callOperation('workflows_create', {
      name: 'T',
      graph: clerk('{{input.tools}}' as never),
    });
    expect(await callOperation('workflows_validate', { id: draft })).toMatchObject({
      valid: false,
      errors: [{ step_id: 'clerk', path: 'tools' }],
    });
    await expect(callOperation('workflows_publish_version', { id: draft })).rejects.toMatchObject({
      code: 'invalid_graph',
    });
    const id = await publish('Desk', clerk([]));
    const trigger_steps = { clerk: { tools: [workflowTools(own)] } };
    const started = callOperation('workflows_execute_command', { id, command: 'start', params: { trigger_steps } });
    await expect(started).rejects.toMatchObject({ details: [{ path: 'params.trigger_steps.clerk.tools' }] });
  });
});

test('two concurrent runs call separate runs and read only their own results', async () => {
  const target = await publish('Echo', lua('return {said = "{{input.text}}"}'));
  const id = await publish('Desk', clerk([workflowTools(target)]));
  const both = ['first', 'second'];
  script(
    ...both.map(text => ({
      match: { any: `Say ${text}.`, turn: 0 },
      content: [{ hold: 'both' }, { calls: [call('echo', { text }), call('echo', { text: `${text} again` })] }],
    })),
    ...both.map(text => ({ match: { any: `Say ${text}.`, turn: 1 }, content: [{ text: `Said ${text}.` }] })),
  );
  const refs = await Promise.all(both.map(text => start(id, { prompt: `Say ${text}.` })));
  await chat.fake.held('both');
  chat.fake.release('both');
  for (const [index, ref] of refs.entries()) {
    await waitForEnd(ref);
    const text = both[index] ?? '';
    expect((await readSummary(ref)).output.text).toBe(`Said ${text}.`);
    const said = await Promise.all((await calledBy(ref)).map(async child => (await readSummary(child)).output.said));
    expect(said.toSorted()).toEqual([text, `${text} again`]);
  }
});

describe('a run that does not end', () => {
  test.each([
    ['its limits', { limits: { timeout_s: 2 } }],
    ['its step', { timeout_s: 2 }],
  ])('is stopped when its agent reaches the time limit of %s', async (_, more) => {
    const slow = await publish('Slow', waits);
    const id = await publish('Desk', clerk([workflowTools(slow)], more));
    script(calls(call('slow')), textAnswer('Nobody answered.'));
    const ref = await start(id);
    await waitForEnd(ref);
    expect((await readSummary(ref)).output).toMatchObject({ ended_by: 'timeout', complete: false });
    const [child, ...others] = await calledBy(ref);
    expect(others).toEqual([]);
    await expect.poll(async () => (await readSummary(child ?? ref)).status).toBe('stopped');
  });

  test('is stopped together with the runs that it called when its agent fails at a limit', async () => {
    const inner = await publish('Inner', waits);
    const outer = await publish('Outer', {
      steps: [{ id: 'call', type: 'call_workflow', workflow_id: inner }],
    });
    const id = await publish('Desk', clerk([workflowTools(outer)], { limits: { timeout_s: 2 }, on_limit: 'fail' }));
    script(calls(call('outer')));
    const ref = await start(id);
    await waitForEnd(ref);
    expect((await readSummary(ref)).status).toBe('failed');
    const [middle = ref] = await calledBy(ref);
    const [last = ref] = await calledBy(middle);
    expect(last.id).toBe(inner);
    for (const each of [middle, last]) await expect.poll(async () => (await readSummary(each)).status).toBe('stopped');
  });
});

describe('a large output', () => {
  test('can be read in parts', async () => {
    const target = await publish(
      'Large',
      lua('return {head = "top", body = string.rep("x", 900000), tail = "deep 7731"}'),
    );
    const id = await publish('Desk', clerk([workflowTools(target)]));
    script(calls(call('large')), calls(call('read_result', { ref: 'clerk.1.1', path: 'tail' })), textAnswer('Read.'));
    const ref = await start(id);
    await waitForEnd(ref);
    expect((await readSummary(ref)).output.text).toBe('Read.');
    expect(lastSent()).toContain('deep 7731');
    expect(lastSent().length).toBeLessThan(40_000);
  });

  test('of 2 MB becomes an error that only the model reads', async () => {
    const part = (id: string) => ({ id, type: 'lua_script', script: 'return string.rep("x", 1000000)' });
    const target = await publish('Large', { steps: [part('a'), part('b')] });
    const id = await publish('Desk', clerk([workflowTools(target)]));
    script(calls(call('large')), textAnswer('Too large.'));
    const ref = await start(id);
    await waitForEnd(ref);
    expect(await readSummary(ref)).toMatchObject({ status: 'completed', output: { text: 'Too large.' } });
    expect(await eventOf(ref, 'clerk.1.1', 'step_failed')).toMatchObject({ error: { code: 'result_too_large' } });
    expect(lastSent()).toContain('result_too_large');
    expect(lastSent().length).toBeLessThan(20_000);
    const [child = ref] = await calledBy(ref);
    expect((await readSummary(child)).status).toBe('completed');
  });
});

test('equal names of tools are made unique, and each call reaches the tool with the unique name', async () => {
  const names = ['Note', 'note', 'read result', 'ask user', 'workflows list', '../../etc', '工具'];
  const ids: string[] = [];
  for (const name of names) ids.push(await publish(name, lua(`return "run of ${name}"`)));
  const named = {
    type: 'agent',
    agent_id: (await callOperation('agents_create', { name: 'Note', model })).id,
    approval: 'auto',
  };
  const id = await publish(
    'Desk',
    clerk([
      { type: 'mcp', instance_id, tools: ['*'], approval: 'auto' },
      { type: 'platform', operations: ['workflows_list'] },
      workflowTools(...ids),
      named,
      { type: 'ask_user' },
    ]),
  );
  script(calls(call('note'), call('note_2'), call('note_3')), textAnswer('Done.'));
  const ref = await start(id);
  await waitForEnd(ref);
  const tools = offered();
  expect([...tools.keys()].toSorted()).toEqual(
    [
      'ask_user',
      'ask_user_2',
      'etc',
      'note',
      'note_2',
      'note_3',
      'note_4',
      'read_result',
      'read_result_2',
      'read_result_3',
      'workflow',
      'workflows_list',
      'workflows_list_2',
    ].toSorted(),
  );
  expect(tools.get('note_4')).toContain('Asks the agent');
  expect(noted).toEqual(['note']);
  expect((await calledBy(ref)).map(each => each.id).toSorted()).toEqual(ids.slice(0, 2).toSorted());
  expect(await eventOf(ref, 'clerk.1.2', 'step_completed')).toMatchObject({ result: 'run of Note' });
});
