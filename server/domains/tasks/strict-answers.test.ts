import type { McpServer } from '@modelcontextprotocol/sdk/server/mcp.js';
import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest';
import { z } from 'zod';
import { askAboutLost } from '../../orchestrator/steps/on-lost.ts';
import { newId } from '../../platform/ids.ts';
import { type ChatService, startChatService } from '../../testing/chat.ts';
import { createTestMember } from '../../testing/identity.ts';
import { reached } from '../../testing/runs.ts';

let paid: unknown[] = [];
function configure(server: McpServer): void {
  const inputSchema = z.object({
    amount: z.number().max(100),
    to: z.string().optional(),
    meta: z.object({ a: z.string() }).optional(),
  });
  server.registerTool('pay', { inputSchema, annotations: { openWorldHint: false } }, args => {
    paid.push(args);
    return { content: [{ type: 'text', text: 'Paid.' }] };
  });
}

let chat: ChatService;
let instance_id: string;
type Ref = { id: string; runID: string };
type Answer = { status: number; code?: string; paths: string[] };
type Details = { code?: string; details?: { path: string }[] };

beforeAll(async () => {
  chat = await startChatService();
  instance_id = await chat.serveTools(configure);
});
afterAll(() => chat.close());
beforeEach(() => {
  paid = [];
});

const callOperation = (...args: Parameters<ChatService['act']>) => chat.act(...args);
async function start(step: object): Promise<Ref> {
  const { id } = await callOperation('workflows_create', { name: `W ${newId()}`, graph: { steps: [step] } });
  await callOperation('workflows_publish_version', { id });
  const { run_id } = await callOperation('workflows_execute_command', { id, command: 'start', params: {} });
  const ref = { id, runID: run_id };
  await reached(chat.service.container.services, chat.acme.owner, ref, 'blocked');
  return ref;
}
const complete = (ref: Ref) => reached(chat.service.container.services, chat.acme.owner, ref);
const clerk = { id: 'clerk', type: 'agent', model: 'openai_compatible/scripted', prompt: 'Pay.' };
function startClerk(call: { name: string; arguments: object }, tool: object) {
  chat.fake.script({ answers: [{ content: [{ calls: [call] }] }, { content: [{ text: 'Done.' }] }] } as never);
  return start({ ...clerk, tools: [tool] });
}
const pay = () => ({ type: 'mcp', instance_id, tools: ['pay'] });
const APPROVAL = 'clerk.1.1.ok';

async function post(path: string, body: unknown): Promise<{ status: number; body: unknown }> {
  const response = await fetch(chat.service.url + path, {
    method: 'POST',
    headers: {
      authorization: `Bearer ${chat.token}`,
      'content-type': 'application/json',
      accept: 'application/json, text/event-stream',
    },
    body: JSON.stringify(body),
  });
  const text = await response.text();
  return { status: response.status, body: JSON.parse(text.replace(/^event: message\ndata: /, '')) };
}
const refusal = ({ code, details }: Details): Answer => ({
  status: 422,
  ...(code !== undefined && { code }),
  paths: details?.map(({ path }) => path) ?? [],
});

/** The surfaces on which a task is answered; the console and the chat use tRPC. */
const surfaces: Record<string, (ref: Ref, task: string, body: object) => Promise<Answer>> = {
  async rest({ id, runID }, task, body) {
    const answer = await post(`/v1/workflows/${id}/runs/${runID}/tasks/${task}/complete`, body);
    return answer.status === 422 ? refusal(answer.body as Details) : { status: answer.status, paths: [] };
  },
  async trpc(ref, task_id, body) {
    const answer = await post('/api/trpc/tasks_complete', { ...ref, task_id, ...body });
    const { data } = (answer.body as { error?: { data: Details } }).error ?? {};
    return data === undefined ? { status: answer.status, paths: [] } : refusal(data);
  },
  async mcp({ id, runID }, task_id, body) {
    const params = { name: 'tasks_complete', arguments: { id, run_id: runID, task_id, ...body } };
    const answer = await post('/mcp', { jsonrpc: '2.0', id: 1, method: 'tools/call', params });
    const { isError, content } = (answer.body as { result: { isError?: boolean; content: { text: string }[] } }).result;
    return isError ? refusal(JSON.parse(content[0]?.text ?? '{}')) : { status: answer.status, paths: [] };
  },
};
const names = Object.keys(surfaces);

/** Asserts that an answer is 422 with these paths on every surface, and that the task stays pending. */
async function refusedEverywhere(ref: Ref, task: string, body: object, paths: string[]): Promise<void> {
  for (const [surface, answer] of Object.entries(surfaces))
    expect(await answer(ref, task, body), `${surface} ${JSON.stringify(body)}`).toMatchObject({ status: 422, paths });
  const { tasks } = (await callOperation('tasks_list_pending_run', ref)) as unknown as { tasks: { task_id: string }[] };
  expect(tasks.map(({ task_id }) => task_id)).toEqual([task]);
}

describe('an unknown field is 422 on every surface, and the task stays', () => {
  test('of a form, at any depth, even with a comment', async () => {
    const address = { type: 'object', properties: { city: { type: 'string' } } };
    const form = { type: 'object', properties: { note: { type: 'string' }, address } };
    const ref = await start({ id: 'ask', type: 'human_task', form });
    await refusedEverywhere(ref, 'ask', { approved: true, result: { notes: 'x' } }, ['result.notes']);
    await refusedEverywhere(ref, 'ask', { approved: false, result: { notes: 'x' } }, ['result.notes']);
    await refusedEverywhere(ref, 'ask', { approved: true, result: { address: { town: 'x' } } }, [
      'result.address.town',
    ]);
    await refusedEverywhere(ref, 'ask', { approved: true, result: { comment: 7 } }, ['result.comment']);
    await refusedEverywhere(ref, 'ask', { approved: true, results: {} }, ['results']);
    await callOperation('tasks_complete', {
      ...ref,
      task_id: 'ask',
      approved: true,
      result: { note: 'x', comment: 'Fine.' },
    });
    await complete(ref);
  });

  test('of an approval, and so are arguments that do not fit the tool', async () => {
    const ref = await startClerk({ name: 'pay', arguments: { amount: 5 } }, pay());
    await refusedEverywhere(ref, APPROVAL, { approved: true, result: { args: { amount: 1 } } }, ['result.args']);
    await refusedEverywhere(ref, APPROVAL, { approved: false, result: { comment: 'No' } }, ['result.comment']);
    const edited = (args: unknown) => ({ approved: true, result: { arguments: args } });
    await refusedEverywhere(ref, APPROVAL, edited({ amount: 500 }), ['result.arguments.amount']);
    await refusedEverywhere(ref, APPROVAL, edited({ amount: '5' }), ['result.arguments.amount']);
    await refusedEverywhere(ref, APPROVAL, edited({}), ['result.arguments']);
    await refusedEverywhere(ref, APPROVAL, edited({ amount: 5, too: 'eve' }), ['result.arguments.too']);
    await refusedEverywhere(ref, APPROVAL, edited(null), ['result.arguments']);
    expect(paid).toEqual([]);
    await callOperation('tasks_complete', { ...ref, task_id: APPROVAL, ...edited({ amount: 7, to: 'bob' }) });
    await complete(ref);
    expect(paid).toEqual([{ amount: 7, to: 'bob' }]);
    const seen = JSON.stringify(chat.fake.requests.at(-1));
    expect(seen).toContain('changed the arguments. amount: 5 → 7; to: absent → ');
  });

  test('of a question of an agent', async () => {
    const form = { type: 'object', properties: { city: { type: 'string' } }, required: ['city'] };
    const ref = await startClerk({ name: 'ask_user', arguments: { question: 'Where?', form } }, { type: 'ask_user' });
    await refusedEverywhere(ref, APPROVAL, { approved: true, result: { city: 'Rome', town: 'x' } }, ['result.town']);
    await callOperation('tasks_complete', { ...ref, task_id: APPROVAL, approved: true, result: { city: 'Rome' } });
    await complete(ref);
  });
});

test('a call that may have happened is repeated only by an answer that says so', async () => {
  const ref = await start({ id: 'ask', type: 'human_task' });
  const lost = askAboutLost({ step: 'pay', did: 'paying', given: {}, example: { id: 1 } });
  const form = lost.kind === 'waiting' ? JSON.stringify(lost.task.form) : '';
  await chat.service.db.pool.query('UPDATE human_tasks SET form = $2 WHERE run_id = $1', [ref.runID, form]);
  const decide = (approved: boolean, result?: object) => ({ approved, ...(result && { result }) });
  await refusedEverywhere(ref, 'ask', decide(true), ['result.decision']);
  await refusedEverywhere(ref, 'ask', decide(true, {}), ['result.decision']);
  await refusedEverywhere(ref, 'ask', decide(true, { descision: 'result' }), ['result.decision']);
  await refusedEverywhere(ref, 'ask', decide(true, { decision: 'again' }), ['result.decision']);
  await refusedEverywhere(ref, 'ask', decide(true, { decision: 'result' }), ['result']);
  await refusedEverywhere(ref, 'ask', decide(true, { decision: 'repeat', choice: 'skip' }), ['result.choice']);
  await refusedEverywhere(ref, 'ask', decide(true, { decision: 'skip', why: 'x' }), ['result.why']);
  await refusedEverywhere(ref, 'ask', decide(false, { decision: 'repeat' }), ['result.decision']);
  const readSteps = async () =>
    (await callOperation('runs_get_context', ref)).steps as unknown as Record<string, { result: object }>;
  await callOperation('tasks_complete', {
    ...ref,
    task_id: 'ask',
    approved: true,
    result: { choice: 'result', result: { id: 7 } },
  });
  await complete(ref);
  expect((await readSteps()).ask?.result).toMatchObject({ decision: 'result', result: { id: 7 } });
});

test('a task without a form takes any result, and a bare decision is enough for every other', async () => {
  const ref = await start({ id: 'ask', type: 'human_task' });
  await callOperation('tasks_complete', { ...ref, task_id: 'ask', approved: true, result: { anything: 1 } });
  const asked = await startClerk({ name: 'pay', arguments: { amount: 5 } }, pay());
  await callOperation('tasks_complete', { ...asked, task_id: APPROVAL, approved: true });
  await complete(asked);
  expect(paid).toEqual([{ amount: 5 }]);
});

test('arguments are checked against the tool also if its schema could not be shown as a form', async () => {
  const ref = await startClerk({ name: 'pay', arguments: { amount: 5, meta: { a: 'x', b: 1 } } }, pay());
  await refusedEverywhere(ref, APPROVAL, { approved: true, result: { arguments: { amount: 500 } } }, [
    'result.arguments.amount',
  ]);
  await callOperation('tasks_complete', {
    ...ref,
    task_id: APPROVAL,
    approved: true,
    result: { arguments: { amount: 7 } },
  });
  await complete(ref);
  expect(paid).toEqual([{ amount: 7 }]);
});

test('arguments that are sent back unchanged change nothing', async () => {
  const ref = await startClerk({ name: 'pay', arguments: { amount: 5, to: 'bob' } }, pay());
  const result = { arguments: { to: 'bob', amount: 5 }, reason: 'Fine.' };
  await callOperation('tasks_complete', { ...ref, task_id: APPROVAL, approved: true, result });
  await complete(ref);
  const { events } = (await callOperation('runs_list_events', { ...ref, limit: 200 })) as unknown as {
    events: { event_type: string; step_id?: string; data: { result?: object } }[];
  };
  const end = events.find(event => event.event_type === 'step_completed' && event.step_id === APPROVAL);
  expect(end?.data.result).toMatchObject({ reason: 'Fine.', approved: true });
  expect(end?.data.result).not.toHaveProperty('arguments');
});

test('an approval by somebody who was removed before the call begins does not count', async () => {
  const { services } = chat.service.container;
  const leaver = await createTestMember(services, chat.acme, 'project_contributor', 'leaver@acme.example.com');
  const ref = await startClerk({ name: 'pay', arguments: { amount: 5 } }, pay());
  await callOperation('workflows_execute_command', { id: ref.id, command: 'pause', params: { run_id: ref.runID } });
  await callOperation('tasks_complete', { ...ref, task_id: APPROVAL, approved: true }, leaver);
  await callOperation('members_remove', { user_id: leaver.userId });
  await callOperation('workflows_execute_command', { id: ref.id, command: 'resume', params: { run_id: ref.runID } });
  await complete(ref);
  expect(paid).toEqual([]);
  expect(JSON.stringify(chat.fake.requests.at(-1))).toContain(
    'approval_missing: leaver@acme.example.com, who approved',
  );
});

test.each(names)('%s accepts a correct answer', async surface => {
  const ref = await startClerk({ name: 'pay', arguments: { amount: 5 } }, pay());
  expect(await surfaces[surface]?.(ref, APPROVAL, { approved: true })).toEqual({ status: 200, paths: [] });
  await complete(ref);
  expect(paid).toEqual([{ amount: 5 }]);
});
