import type { McpServer } from '@modelcontextprotocol/sdk/server/mcp.js';
import { afterAll, beforeAll, beforeEach, expect, test } from 'vitest';
import { z } from 'zod';
import type { FakeModel } from '../../../bin/fake-model/server.ts';
import type { Principal } from '../../operation/context.ts';
import { type ChatService, startChatService } from '../../testing/chat.ts';
import type { TestContainer } from '../../testing/container.ts';
import { createTestMember, createTestPat, createTestTenant, type TestTenant } from '../../testing/identity.ts';
import { reached } from '../../testing/runs.ts';
import { applyEvent, newRunState, type Snapshot, stateOf, type WireEvent } from '../runs/reading/run-state.ts';

/** The text of each call of the tool `send`, in order. */
let sent: string[] = [];

function configure(server: McpServer): void {
  server.registerTool('send', { inputSchema: z.strictObject({ text: z.string() }) }, ({ text }) => {
    sent.push(text);
    return { content: [{ type: 'text', text: 'Sent.' }] };
  });
}

let chat: ChatService;
let service: TestContainer;
let fake: FakeModel;
let acme: TestTenant;
let agent: string;

const callOperation = (...args: Parameters<ChatService['act']>) => chat.act(...args);

beforeAll(async () => {
  chat = await startChatService();
  ({ service, fake, acme } = chat);
  const instance_id = await chat.serveTools(configure);
  const made = await callOperation('agents_create', {
    name: 'Clerk',
    model: 'openai_compatible/scripted',
    instructions: 'You write to {{input.who}}.',
    tools: [{ type: 'mcp', instance_id, tools: ['send'], approval: 'auto' }],
  });
  agent = made.id;
});
afterAll(() => chat.close());
beforeEach(() => {
  sent = [];
});

const calls = { calls: [{ name: 'send', arguments: { text: 'Hello' } }] };
const run = (by: Principal) =>
  callOperation('agents_run', { id: agent, input: { message: 'Say hello.', who: 'Ann' } }, by).then(
    made => made.run_id,
  );
const waitForEnd = (runID: string) => reached(service.container.services, acme.owner, { id: agent, runID });
const outputOf = async (runID: string) =>
  (await callOperation('runs_get_summary', { id: agent, runID })).output as Record<string, unknown>;
async function failuresOf(runID: string): Promise<string[]> {
  const { events } = (await callOperation('runs_list_events', { id: agent, runID, limit: 200 })) as unknown as {
    events: { event_type: string; data: { error?: { code: string } } }[];
  };
  return events.flatMap(({ event_type, data }) =>
    event_type === 'step_failed' && data.error ? [data.error.code] : [],
  );
}

test('an agent answers with its instructions, tools and input', async () => {
  fake.script({ answers: [{ content: [calls] }, { content: [{ text: 'Ann knows.' }] }] });
  const runID = await run(acme.contributor);
  await waitForEnd(runID);
  expect(sent).toEqual(['Hello']);
  expect(await outputOf(runID)).toMatchObject({ text: 'Ann knows.', ended_by: 'answered', tool_calls: 1, turns: 2 });
  expect(JSON.stringify(fake.requests[0]?.body)).toContain('You write to Ann.');
});

test('a turn, a call and an approval can be read like any other step', async () => {
  fake.script({ answers: [{ content: [calls] }, { content: [{ text: 'Ann knows.' }] }] });
  const viewer = await createTestMember(service.container.services, acme, 'project_viewer', 'asks@example.com');
  const runID = await run(viewer);
  await reached(service.container.services, acme.owner, { id: agent, runID }, 'blocked');
  const stepOf = (step_id: string) => callOperation('runs_get_step', { id: agent, runID, step_id });
  const task = 'agent.1.1.ok';
  expect(await stepOf(task)).toMatchObject({
    definition: { type: 'agent_approval', depends_on: ['agent.1'] },
    resolved: [{ name: 'arguments', value: { text: 'Hello' } }],
    has_result: false,
  });
  const answer = { id: agent, runID, task_id: task, approved: true, result: { arguments: { text: 'Good day' } } };
  await callOperation('tasks_complete', answer, acme.contributor);
  await waitForEnd(runID);
  expect(await stepOf('agent.1')).toMatchObject({ has_result: true, result: { finish_reason: 'tool_calls' } });
  expect(await stepOf('agent.1.1')).toMatchObject({
    definition: { id: 'agent.1.1', type: 'agent_tool', tool: 'send', depends_on: ['agent.1', task] },
    resolved: [{ name: 'arguments', value: { text: 'Good day' }, problem: null }],
    has_result: true,
  });
  await expect(stepOf('agent.1.2')).rejects.toMatchObject({ status: 404 });
  await expect(stepOf('agent.9')).rejects.toMatchObject({ status: 404 });
  const rival = await createTestTenant(service.container.services, { slug: 'rival' });
  const foreign = callOperation('runs_get_step', { id: agent, runID, step_id: 'agent.1' }, rival.owner);
  await expect(foreign).rejects.toMatchObject({ status: 404 });
});

test('the prompt of a turn is read from the log exactly as the provider received it', async () => {
  fake.script({ answers: [{ content: [{ reasoning: 'Greet.' }, calls] }, { content: [{ text: 'Ann knows.' }] }] });
  fake.requests.length = 0;
  const runID = await run(acme.contributor);
  await waitForEnd(runID);
  const prompt = (step_id: string) => callOperation('runs_get_prompt', { id: agent, runID, step_id }, acme.viewer);
  const [first, second] = [await prompt('agent.1'), await prompt('agent.2')];
  const text = (said: string) => [{ type: 'text', text: said }];
  const firstMessages = [
    { role: 'system', content: text('You write to Ann.') },
    { role: 'user', content: text('Say hello.') },
  ];
  expect(first).toMatchObject({
    model: 'openai_compatible/scripted',
    messages: firstMessages,
    left_out: 0,
    tool_choice: 'auto',
  });
  const called = { type: 'tool_call', name: 'send', arguments: { text: 'Hello' } };
  expect(second.messages).toMatchObject([
    ...firstMessages,
    { role: 'assistant', content: [{ type: 'reasoning', text: 'Greet.' }, called] },
    {
      role: 'tool',
      content: [{ type: 'tool_result', name: 'send', outcome: 'result', text: expect.stringContaining('Sent.') }],
    },
  ]);
  // The provider received the same number of messages and the same tools.
  const sent = fake.requests.map(({ body }) => body as { messages: object[]; tools: { function: { name: string } }[] });
  const requests = [first, second] as unknown as { messages: object[]; tools: { name: string }[] }[];
  expect(requests.map(({ messages }) => messages.length)).toEqual(sent.map(({ messages }) => messages.length));
  for (const [at, { tools }] of requests.entries())
    expect(tools.map(({ name }) => name)).toEqual(sent[at]?.tools.map(each => each.function.name));
  for (const step of ['agent', 'agent.1.1', 'agent.3', 'agent.c1'])
    await expect(prompt(step)).rejects.toMatchObject({ status: 404 });
  const rival = await createTestTenant(service.container.services, { slug: 'curious' });
  const foreign = callOperation('runs_get_prompt', { id: agent, runID, step_id: 'agent.1' }, rival.owner);
  await expect(foreign).rejects.toMatchObject({ status: 404 });
});

test('revoking a token during a turn fails the call of that turn, but not the run', async () => {
  fake.script({ answers: [{ content: [{ hold: 'thinking' }, calls] }, { content: [{ text: 'I could not.' }] }] });
  const { services } = service.container;
  const { principal } = await createTestPat(services, acme.contributor, ['ai:use', 'mcp:execute', 'workflow:run']);
  const runID = await run(principal);
  await fake.held('thinking');
  await service.db.pool.query('UPDATE pats SET revoked_at = now() WHERE user_id = $1', [principal.userId]);
  fake.release('thinking');
  await waitForEnd(runID);
  expect(sent).toEqual([]);
  expect(await failuresOf(runID)).toEqual(['authority_lost']);
  expect(await outputOf(runID)).toMatchObject({ text: 'I could not.', ended_by: 'answered' });
});

test('a call that writes for a viewer waits for the approval of a contributor', async () => {
  fake.script({ answers: [{ content: [calls] }, { content: [{ text: 'Done.' }] }] });
  const viewer = await createTestMember(service.container.services, acme, 'project_viewer', 'reads@example.com');
  const runID = await run(viewer);
  await reached(service.container.services, acme.owner, { id: agent, runID }, 'blocked');
  expect(sent).toEqual([]);
  const { tasks } = (await callOperation('tasks_list_pending_run', { id: agent, runID })) as unknown as {
    tasks: { task_id: string }[];
  };
  expect(tasks).toHaveLength(1);
  const answer = { id: agent, runID, task_id: tasks[0]?.task_id, approved: true };
  await expect(callOperation('tasks_complete', answer, viewer)).rejects.toMatchObject({ status: 403 });
  await callOperation('tasks_complete', answer, acme.contributor);
  await waitForEnd(runID);
  expect(sent).toEqual(['Hello']);
  expect(await outputOf(runID)).toMatchObject({ text: 'Done.' });
});

test('the snapshot of a run has the same turns, calls and approvals of agents as its log', async () => {
  fake.script({ answers: [{ content: [calls] }, { content: [{ text: 'Done.' }] }] });
  const viewer = await createTestMember(service.container.services, acme, 'project_viewer', 'watches@example.com');
  const runID = await run(viewer);
  const ref = { id: agent, runID };
  await reached(service.container.services, acme.owner, ref, 'blocked');
  const folded = async () => {
    const snapshot = (await callOperation('runs_get_snapshot', ref)) as unknown as Snapshot;
    const { events } = (await callOperation('runs_list_events', { ...ref, limit: 1000 })) as unknown as {
      events: WireEvent[];
    };
    const state = newRunState(['agent']);
    for (const event of events) applyEvent(state, event);
    expect(stateOf(snapshot, ['agent'])).toEqual(state);
    return snapshot;
  };
  const waiting = await folded();
  const addedSteps = ({ added_steps }: typeof waiting) =>
    added_steps.of_agents.map(({ step_id, status, tool }) => [step_id, status, tool]);
  expect(addedSteps(waiting)).toEqual([
    ['agent.1', 'completed', null],
    ['agent.1.1.ok', 'waiting', 'send'],
    ['agent.1.1', 'pending', 'send'],
  ]);
  expect(waiting.added_steps.open.map(({ step_id }) => step_id)).toEqual(['agent.1.1.ok']);
  await callOperation('tasks_complete', { ...ref, task_id: 'agent.1.1.ok', approved: true }, acme.contributor);
  await waitForEnd(runID);
  const done = await folded();
  expect(addedSteps(done).map(([id, status]) => `${id} ${status}`)).toEqual([
    'agent.1 completed',
    'agent.1.1.ok completed',
    'agent.1.1 completed',
    'agent.2 completed',
  ]);
  expect(done.added_steps.open).toEqual([]);
  const spent = [...done.steps, ...done.added_steps.of_agents].reduce(
    (sum, step) => sum + step.credits_microcredits,
    0,
  );
  expect(done.credits_microcredits).toBe(spent);
});

test('a rerun from a turn keeps the earlier turns, calls and approvals', async () => {
  const callsSend = (text: string) => ({ content: [{ calls: [{ name: 'send', arguments: { text } }] }] });
  fake.script({ answers: [callsSend('One'), callsSend('Two'), { content: [{ text: 'Both.' }] }] });
  const viewer = await createTestMember(service.container.services, acme, 'project_viewer', 'again@example.com');
  const runID = await run(viewer);
  const decide = async (task_id: string, approved: boolean) => {
    const pendingTaskIds = async () => {
      const { tasks } = await callOperation('tasks_list_pending_run', { id: agent, runID, limit: 50 });
      return (tasks as { task_id: string }[]).map(each => each.task_id);
    };
    await expect.poll(pendingTaskIds).toEqual([task_id]);
    const result = approved ? {} : { reason: 'Enough.' };
    await callOperation('tasks_complete', { id: agent, runID, task_id, approved, result }, acme.contributor);
  };
  await decide('agent.1.1.ok', true);
  await decide('agent.2.1.ok', false);
  await waitForEnd(runID);
  expect(sent).toEqual(['One']);

  sent = [];
  fake.requests.length = 0;
  fake.script({ answers: [callsSend('Three'), { content: [{ text: 'Only one.' }] }] });
  const rerunFrom = (from_step: string, of = runID) => callOperation('runs_rerun', { id: agent, runID: of, from_step });
  const { run_id } = await rerunFrom('agent.3');
  await waitForEnd(run_id);
  // No turn, call or approval before the chosen turn is repeated.
  expect(sent).toEqual(['Three']);
  expect(fake.requests).toHaveLength(2);
  const first = JSON.stringify(fake.requests[0]?.body);
  expect(first).toContain('One');
  expect(first).toContain('did not approve the call: Enough.');
  expect(await outputOf(run_id)).toMatchObject({ text: 'Only one.', turns: 4, tool_calls: 3, ended_by: 'answered' });
  const { events } = (await callOperation('runs_list_events', { id: agent, runID: run_id, limit: 200 })) as unknown as {
    events: { event_type: string; step_id?: string; data: { consumed?: object } }[];
  };
  const charged = events.flatMap(({ step_id, data }) => (data.consumed ? [step_id] : []));
  expect(charged).toEqual(['agent.3', 'agent.3.1', 'agent.4']);

  fake.script({ answers: [{ content: [{ text: 'At once.' }] }] });
  const { run_id: forked } = await rerunFrom('agent.4', run_id);
  await waitForEnd(forked);
  expect(await outputOf(forked)).toMatchObject({ text: 'At once.', turns: 4, tool_calls: 3 });
  fake.script({ answers: [{ content: [{ text: 'From the start.' }] }] });
  const { run_id: whole } = await rerunFrom('agent.1', forked);
  await waitForEnd(whole);
  expect(await outputOf(whole)).toMatchObject({ text: 'From the start.', turns: 1, tool_calls: 0 });
  for (const step of ['agent.9', 'agent.1.1', 'agent.c1', 'nothing.1'])
    await expect(rerunFrom(step)).rejects.toMatchObject({ code: 'unknown_step' });
});

test('a step of a workflow names an agent, with its own prompt and stricter limits', async () => {
  const ask = {
    id: 'ask',
    type: 'agent',
    agent_id: agent,
    prompt: 'Write to {{input.who}}.',
    limits: { max_turns: 1 },
  };
  const workflow = await callOperation('workflows_create', { name: 'Uses the clerk', graph: { steps: [ask] } });
  await callOperation('workflows_publish_version', { id: workflow.id });
  fake.script({ answers: [{ content: [calls] }, { content: [{ text: 'As far as I got.' }] }] });
  fake.requests.length = 0;
  const params = { who: 'Bob' };
  const started = await callOperation('workflows_execute_command', { id: workflow.id, command: 'start', params });
  await reached(service.container.services, acme.owner, { id: workflow.id, runID: started.run_id });
  const first = JSON.stringify(fake.requests[0]?.body);
  expect(first).toContain('You write to Bob.');
  expect(first).toContain('Write to Bob.');
  const summary = await callOperation('runs_get_summary', { id: workflow.id, runID: started.run_id });
  expect(summary).toMatchObject({ status: 'completed', output: { ended_by: 'max_turns', text: 'As far as I got.' } });
  await expect(callOperation('agents_archive', { id: agent })).rejects.toMatchObject({ code: 'agent_in_use' });
});

test('a step cannot be published with an unknown agent, or with both an agent and settings of its own', async () => {
  for (const [fields, code] of [
    [{ agent_id: '0198c0de-7a2b-7cc3-9d1e-3f2b8a6c4d10' }, 'agent_not_found'],
    [{ agent_id: agent, model: 'openai_compatible/scripted' }, 'field_conflict'],
    [{}, 'missing_field'],
  ] as const) {
    const step = { id: 'ask', type: 'agent', prompt: 'Hello', ...fields };
    const { id } = await callOperation('workflows_create', { name: 'Wrong', graph: { steps: [step] } });
    await expect(callOperation('workflows_publish_version', { id })).rejects.toMatchObject({ details: [{ code }] });
  }
});

test('an MCP instance that an agent uses cannot be deleted', async () => {
  const { tools: [{ instance_id: id } = {}] = [] } = (await callOperation('agents_get', { id: agent })) as unknown as {
    tools: { instance_id: string }[];
  };
  await expect(callOperation('mcp_instances_delete', { id })).rejects.toMatchObject({ code: 'instance_in_use' });
});
