import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import type { Principal } from '../../operation/context.ts';
import { newId } from '../../platform/ids.ts';
import { type ChatService, startChatService } from '../../testing/chat.ts';
import { type ClientAnswer, type Clients, clientSurfaces, createClients } from '../../testing/clients.ts';
import { createTestTenant, type TestTenant } from '../../testing/identity.ts';

/** Tests agent steps with workflows and agents as tools over REST and the Platform MCP. */
type Json = Record<string, unknown>;
type Use = (name: string, input?: Json, as?: Principal) => Promise<ClientAnswer>;

let chat: ChatService;
let clients: Clients;
let other: TestTenant;

beforeAll(async () => {
  chat = await startChatService();
  clients = createClients(chat.service);
  other = await createTestTenant(chat.service.container.services, { slug: 'other' });
});
afterAll(async () => {
  await clients.close();
  await chat.close();
});

/** Calls over REST, because some operations are no tools of the Platform MCP. */
const rest: Use = (name, input = {}, as = chat.acme.contributor) => clients.REST(name, input, as);

const model = 'openai_compatible/scripted';
const call = (name: string, args: object = {}) => ({ name, arguments: args });
const calls = (...toolCalls: object[]) => ({ content: [{ calls: toolCalls }] });
const textAnswer = (text: string) => ({ content: [{ text }] });
const script = (...answers: object[]) => chat.fake.script({ answers } as never);

const echo: Json = {
  steps: [{ id: 'echo', type: 'lua_script', script: 'return {said = "{{input.text}}"}' }],
  input_schema: {
    type: 'object',
    properties: { text: { type: 'string', maxLength: 40 } },
    required: ['text'],
    additionalProperties: false,
  },
};
const asksPerson: Json = { steps: [{ id: 'ask', type: 'human_task', instructions: 'Is it?' }] };
const workflowTools = (workflow_ids: string[], approval = 'auto') => ({ type: 'workflow', workflow_ids, approval });
const agentTool = (agent_id: string, approval = 'auto') => ({ type: 'agent', agent_id, approval });
const clerk = (tools: object[], more: Json = {}): Json => ({
  steps: [{ id: 'clerk', type: 'agent', model, prompt: 'Go.', tools, ...more }],
});

async function publish(use: Use, name: string, graph: Json, as?: Principal): Promise<string> {
  const { id, code } = await use('workflows_create', { name, graph }, as);
  expect(code).toBeUndefined();
  expect(await use('workflows_publish_version', { id }, as)).toMatchObject({ version: 1 });
  return id;
}
async function newAgent(use: Use, name: string, tools: object[] = [], more: Json = {}): Promise<string> {
  const { id, ...rest } = await use('agents_create', { name, model, tools, ...more });
  expect(rest.code, JSON.stringify(rest)).toBeUndefined();
  return id;
}
type Ref = { id: string; runID: string };
async function start(use: Use, id: string, input: Json = {}): Promise<Ref> {
  const started = await use('workflows_execute_command', { id, command: 'start', params: { trigger_payload: input } });
  expect(started.run_id, JSON.stringify(started)).toBeTruthy();
  return { id, runID: started.run_id };
}
type Summary = ClientAnswer & { status: string; output: Json | null; orchestration_phase: string };
const summary = async (use: Use, ref: Ref) => (await use('runs_get_summary', ref)) as Summary;
async function waitForEnd(use: Use, ref: Ref): Promise<Summary> {
  await expect.poll(async () => (await summary(use, ref)).orchestration_phase, { timeout: 20_000 }).toBe('complete');
  return summary(use, ref);
}
type Called = { called_runs: { run_id: string; workflow_id: string }[] };
/** Returns the runs that a run has called, by workflow. */
async function calledBy(ref: Ref): Promise<Map<string, Ref>> {
  const { called_runs } = (await rest('runs_list_called', { ...ref, limit: 50 })) as unknown as Called;
  return new Map(called_runs.map(({ run_id, workflow_id }) => [workflow_id, { id: workflow_id, runID: run_id }]));
}
type Events = { events: { event_type: string; step_id?: string; data: Json & { error?: { code: string } } }[] };
async function eventOf(use: Use, ref: Ref, step_id: string, event_type: string) {
  const { events } = (await use('runs_list_events', { ...ref, limit: 200 })) as unknown as Events;
  return events.find(event => event.step_id === step_id && event.event_type === event_type)?.data;
}
const errorOf = async (use: Use, ref: Ref, step_id: string) =>
  (await eventOf(use, ref, step_id, 'step_failed'))?.error?.code;
const lastSent = () => JSON.stringify(chat.fake.requests.at(-1)?.body);

describe.each(clientSurfaces)('over %s', surface => {
  const use: Use = (name, input = {}, as = chat.acme.contributor) => clients[surface](name, input, as);

  test('an agent step with both kinds of tools is created, checked and run, and its transcript has the results', async () => {
    const [first, second] = [await publish(use, 'Look up', echo), await newAgent(use, 'Counter')];
    const graph = clerk([workflowTools([first]), agentTool(second)]);
    const { id } = await use('workflows_create', { name: 'Desk', graph });
    expect(await use('workflows_validate', { id })).toMatchObject({ valid: true, errors: [], warnings: [] });
    await use('workflows_publish_version', { id });
    script(
      {
        match: { tool: 'look_up', turn: 0 },
        content: [{ calls: [call('look_up', { text: 'shoes' }), call('counter', { prompt: 'Count to three.' })] }],
      },
      { match: { tool: 'look_up', turn: 1 }, content: [{ text: 'Shoes, three.' }] },
      { match: { last: 'Count to three.' }, content: [{ text: 'Three of them.' }] },
    );
    const ref = await start(use, id);
    expect(await waitForEnd(use, ref)).toMatchObject({
      status: 'completed',
      output: { text: 'Shoes, three.', ended_by: 'answered', tool_calls: 2, outside: 'by the tool `look_up`' },
    });
    const called = await calledBy(ref);
    expect([...called.keys()].toSorted()).toEqual([first, second].toSorted());
    expect((await summary(use, called.get(first) ?? ref)).output).toEqual({ said: 'shoes' });
    expect(await eventOf(use, ref, 'clerk.1.1', 'step_completed')).toMatchObject({ result: { said: 'shoes' } });
    const answer = { text: 'Three of them.', complete: true, ended_by: 'answered' };
    expect(await eventOf(use, ref, 'clerk.1.2', 'step_completed')).toMatchObject({ result: answer });
    const { events } = (await use('runs_list_events', { ...called.get(second), limit: 1 })) as unknown as Events;
    expect(events[0]?.data.parent).toMatchObject({ run_id: ref.runID, step_id: 'clerk.1.2' });
    expect(lastSent()).toContain('Three of them.');
  });

  test('stopping the caller stops the runs for which it waits', async () => {
    const [slow, inner] = [await publish(use, 'Slow', asksPerson), await publish(use, 'Inner', asksPerson)];
    const asks = await newAgent(use, 'Asker', [workflowTools([inner])]);
    const id = await publish(use, 'Desk', clerk([workflowTools([slow]), agentTool(asks)]));
    script(
      { match: { tool: 'slow' }, content: [{ calls: [call('slow'), call('asker', { prompt: 'Ask.' })] }] },
      { match: { tool: 'inner' }, content: [{ calls: [call('inner')] }] },
    );
    const ref = await start(use, id);
    await expect.poll(async () => (await calledBy(ref)).size, { timeout: 20_000 }).toBe(2);
    const called = await calledBy(ref);
    const agentRun = called.get(asks) ?? ref;
    await expect.poll(async () => (await calledBy(agentRun)).size, { timeout: 20_000 }).toBe(1);
    const beneath = [...called.values(), ...(await calledBy(agentRun)).values()];
    await use('workflows_execute_command', { id, command: 'stop', params: { run_id: ref.runID } });
    for (const each of [ref, ...beneath])
      await expect.poll(async () => (await summary(use, each)).status, { timeout: 20_000 }).toBe('stopped');
  });

  test('a workflow or agent that cannot be a tool is reported with its path', async () => {
    const foreign = await publish(use, 'Theirs', echo, other.owner);
    const archived = await publish(use, 'Archived', echo);
    await rest('workflows_archive', { id: archived });
    const { id: draft } = await use('workflows_create', { name: 'Draft', graph: echo });
    const own = await publish(use, 'Own', echo);
    const { id } = await use('workflows_create', { name: 'Desk', graph: clerk([]) });
    const ids = [own, foreign, archived, draft, id, newId(), '{{input.id}}', '*'];
    await use('workflows_patch', { id, graph: clerk([workflowTools(ids), agentTool(foreign), agentTool(own)]) });
    const expected = [
      ['tools[0].workflow_ids[1]', 'workflow_unknown'],
      ['tools[0].workflow_ids[2]', 'workflow_archived'],
      ['tools[0].workflow_ids[3]', 'workflow_unpublished'],
      ['tools[0].workflow_ids[4]', 'workflow_cycle'],
      ['tools[0].workflow_ids[5]', 'workflow_unknown'],
      ['tools[0].workflow_ids[6]', 'workflow_unknown'],
      ['tools[0].workflow_ids[7]', 'workflow_unknown'],
      ['tools[1].agent_id', 'agent_not_found'],
      ['tools[2].agent_id', 'agent_not_found'],
    ].map(([path, code]) => expect.objectContaining({ path: expect.stringContaining(path ?? ''), code }));
    expect(await use('workflows_validate', { id })).toMatchObject({ valid: false, errors: expected });
    const refused = await use('workflows_publish_version', { id });
    expect(refused).toMatchObject({ code: 'invalid_graph', details: expected });
    // Another workspace gets the same answer as for an id that does not exist.
    expect(JSON.stringify(refused)).not.toContain('Theirs');
  });

  test('invalid arguments start no run, and the model reads why', async () => {
    const target = await publish(use, 'Look up', echo);
    const id = await publish(use, 'Desk', clerk([workflowTools([target])]));
    const wrong = [{ text: 1 }, {}, { text: 'x', more: 1 }, { text: 'x'.repeat(41) }, [], { text: '{{input.secret}}' }];
    script(calls(...wrong.map(args => call('look_up', args))), textAnswer('Done.'));
    const ref = await start(use, id, { secret: 7731 });
    expect(await waitForEnd(use, ref)).toMatchObject({ status: 'completed', output: { text: 'Done.' } });
    // The last arguments are valid: a template that a model writes is plain text.
    const [, run] = [...(await calledBy(ref))][0] ?? [];
    expect(await calledBy(ref)).toHaveProperty('size', 1);
    expect((await summary(use, run ?? ref)).output).toEqual({ said: '{{input.secret}}' });
    expect(lastSent()).not.toContain('7731');
    expect(lastSent()).toContain('tool_args_invalid');
  });

  test('a viewer cannot start the workflow, neither directly nor through an agent without an approval', async () => {
    const { viewer } = chat.acme;
    const target = await publish(use, 'Look up', { ...echo, tool: { read_only: true } });
    const desk = await publish(use, 'Desk', clerk([workflowTools([target])]));
    const start = { id: desk, command: 'start', params: {} };
    expect(await use('workflows_execute_command', start, viewer)).toMatchObject({ code: 'insufficient_role' });
    const agent_id = await newAgent(use, 'Guide', [workflowTools([target])]);
    script(calls(call('look_up', { text: 'x' })), textAnswer('Done.'));
    const { run_id } = await use('agents_run', { id: agent_id, input: { message: 'Go.' } }, viewer);
    const ref = { id: agent_id, runID: run_id };
    await expect.poll(async () => (await summary(use, ref)).orchestration_phase, { timeout: 20_000 }).toBe('blocked');
    expect((await calledBy(ref)).size).toBe(0);
    const answer = { ...ref, task_id: 'agent.1.1.ok', approved: true };
    expect(await use('tasks_complete', answer, viewer)).toMatchObject({ code: 'insufficient_role' });
    // No grant can be given for a call that starts a run.
    const { tasks } = (await rest('tasks_list_run', ref)) as unknown as { tasks: Json[] };
    expect(tasks[0]).not.toHaveProperty('grants');
    expect(await use('tasks_complete', answer)).toMatchObject({ status: 'completed' });
    expect(await waitForEnd(use, ref)).toMatchObject({ output: { text: 'Done.' } });
    expect((await calledBy(ref)).size).toBe(1);
  });

  test('agents call agents at most two levels deep, within the budget of the first', async () => {
    const third = await newAgent(use, 'Third');
    const second = await newAgent(use, 'Second', [agentTool(third)]);
    const limits = { budget_credits: 900, max_turns: 200, max_tool_calls: 900, timeout_s: 80_000 };
    const first = await newAgent(use, 'First', [agentTool(second)], { limits });
    const own = { budget_credits: 40, max_turns: 5, max_tool_calls: 6, timeout_s: 500 };
    const id = await publish(use, 'Desk', clerk([agentTool(first)], { limits: own }));
    const go = { prompt: 'Go.' };
    script(
      calls(call('first', go)),
      calls(call('second', go)),
      calls(call('third', go)),
      textAnswer('2'),
      textAnswer('1'),
      textAnswer('0'),
    );
    const ref = await start(use, id);
    expect(await waitForEnd(use, ref)).toMatchObject({ output: { text: '0' } });
    const one = (await calledBy(ref)).get(first) ?? ref;
    const two = (await calledBy(one)).get(second) ?? ref;
    expect(await errorOf(use, two, 'agent.1.1')).toBe('agents_too_deep');
    expect((await calledBy(two)).size).toBe(0);
    const { plan } = (await eventOf(use, one, 'agent', 'step_expanded')) as { plan: Record<string, number> };
    expect(plan).toMatchObject({ max_turns: 4, max_tool_calls: 5 });
    expect(plan.budget).toBeLessThanOrEqual(36_000_000);
    expect(plan.timeout_s).toBeLessThanOrEqual(450);
  });
});
