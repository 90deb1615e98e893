import type { McpServer } from '@modelcontextprotocol/sdk/server/mcp.js';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { z } from 'zod';
import type { Principal } from '../../operation/context.ts';
import { scopes } from '../../orchestrator/ports/authority.ts';
import { type ChatService, startChatService } from '../../testing/chat.ts';
import { createTestMember, createTestPat } from '../../testing/identity.ts';
import { enqueueNext } from '../notifications/enqueue.ts';

/**
 * Texts that only the owner of the conversation may read, and one text that is needed for a decision about the call.
 */
const SAID = 'Between us: she is leaving.';
const ARGUMENT = 'Pay 7731 to Eve';
const QUESTION = 'Is she really leaving?';
let runs = 0;

const sent: string[] = [];
function configure(server: McpServer): void {
  server.registerTool('send', { inputSchema: z.strictObject({ text: z.string() }) }, ({ text }) => {
    sent.push(text);
    return { content: [{ type: 'text', text: 'Sent.' }] };
  });
}

let chat: ChatService;
let agent_id: string;
let other: Principal;
const tokens = new Map<Principal, string>();

beforeAll(async () => {
  chat = await startChatService();
  const instance_id = await chat.serveTools(configure);
  const model = 'openai_compatible/scripted';
  const entries = [{ type: 'mcp', instance_id, tools: ['send'] }, { type: 'ask_user' }];
  agent_id = (await chat.act('agents_create', { name: 'Clerk', model, tools: entries })).id;
  const { services } = chat.service.container;
  other = await createTestMember(services, chat.acme, 'project_contributor', 'other@acme.example.com');
  const { owner, contributor, viewer } = chat.acme;
  for (const person of [owner, contributor, viewer, other])
    tokens.set(person, (await createTestPat(services, person, scopes)).token);
});
afterAll(() => chat.close());

type Ref = { id: string; runID: string };
type Waiting = { thread: string; ref: Ref; task_id: string; argument: string; number: number };

/** Starts a run of a private thread of `by` that waits for a person: to approve a call, or to answer a question. */
async function startWaiting(by: Principal, what: 'call' | 'question', visibility = 'private'): Promise<Waiting> {
  const number = ++runs;
  const argument = `${ARGUMENT} #${number}#`;
  const calls = {
    call: { name: 'send', arguments: { text: argument } },
    question: { name: 'ask_user', arguments: { question: `${QUESTION} #${number}#` } },
  };
  chat.fake.script({
    answers: [
      { content: [{ text: `${SAID} #${number}#` }, { calls: [calls[what]] }] },
      { content: [{ text: 'Done.' }] },
    ],
  });
  const thread = await chat.thread({ agent_id, visibility }, by);
  const { run_id, workflow_id } = await chat.act('chat_send_message', { id: thread, text: 'Hello' }, by);
  await expect.poll(async () => (await chat.act('chat_get_thread', { id: thread }, by)).awaits_person).toBe(true);
  return { thread, ref: { id: workflow_id, runID: run_id }, task_id: 'agent.1.1.ok', argument, number };
}

/** Returns everything that a person finds about the tasks of a run, on every surface, as one text. */
async function seenBy(person: Principal, { id, runID }: Ref): Promise<string> {
  const found: unknown[] = [];
  const tryOperation = async (name: Parameters<ChatService['act']>[0], input: object) =>
    found.push(await chat.act(name, input, person).catch(({ status, code }) => ({ status, code })));
  await tryOperation('tasks_list_pending', { limit: 200 });
  for (const q of ['leaving', '7731']) await tryOperation('tasks_list_pending', { limit: 200, q });
  await tryOperation('tasks_list_answered', { limit: 200 });
  for (const q of ['leaving', '7731']) await tryOperation('tasks_list_answered', { limit: 200, q });
  await tryOperation('tasks_list_pending_run', { id, runID, limit: 200 });
  await tryOperation('tasks_list_run', { id, runID, limit: 200 });
  await tryOperation('tasks_list_run', { id, runID, limit: 200, task_id: 'agent.1.1.ok' });
  await tryOperation('me_notifications_deliveries_list', { limit: 200 });
  const headers = { Authorization: `Bearer ${tokens.get(person)}`, 'Content-Type': 'application/json' };
  const get = async (path: string) => found.push(await (await fetch(`${chat.service.url}${path}`, { headers })).text());
  for (const path of ['/v1/tasks/pending', '/v1/tasks/answered', `/v1/workflows/${id}/runs/${runID}/tasks`])
    await get(path);
  const call = { name: 'tasks_list_pending', arguments: {} };
  const body = JSON.stringify({ jsonrpc: '2.0', id: 1, method: 'tools/call', params: call });
  const accept = { ...headers, Accept: 'application/json, text/event-stream' };
  found.push(await (await fetch(`${chat.service.url}/mcp`, { method: 'POST', headers: accept, body })).text());
  return JSON.stringify(found);
}

/**
 * Returns which facts a person learns about a waiting run: the private text, the call that it wants to make, and that
 * it waits.
 */
async function knownTo(person: Principal, { ref, argument, number }: Waiting) {
  const text = await seenBy(person, ref);
  return {
    said: text.includes(`${SAID} #${number}#`) || text.includes(`${QUESTION} #${number}#`),
    call: text.includes(argument),
    task: text.includes(ref.runID),
  };
}
const EVERYTHING = { said: true, call: true, task: true };
const TO_DECIDE = { said: false, call: true, task: true };
const NOTHING = { said: false, call: false, task: false };

test('a call of a private conversation is shown to those who can approve it, without what was said; to viewers not at all', async () => {
  const { contributor, viewer, owner } = chat.acme;
  const run = await startWaiting(contributor, 'call');
  const { ref, task_id, thread } = run;
  expect(await knownTo(contributor, run)).toEqual(EVERYTHING);
  for (const approver of [owner, other]) expect(await knownTo(approver, run), approver.email).toEqual(TO_DECIDE);
  expect(await knownTo(viewer, run)).toEqual(NOTHING);

  // Once the task is assigned to a person, the others no longer see it.
  await chat.act('tasks_assign', { ...ref, task_id, assignees: [owner.email] }, owner);
  expect(await knownTo(owner, run)).toEqual(TO_DECIDE);
  await chat.act('tasks_assign', { ...ref, task_id, assignees: null }, owner);

  await chat.act('tasks_complete', { ...ref, task_id, approved: true }, other);
  await chat.settled(thread, contributor);
  expect(sent.splice(0)).toEqual([run.argument]);
  expect(await knownTo(contributor, run)).toEqual(EVERYTHING);
  // The decision was made, so nobody else needs to see the task.
  for (const person of [owner, other, viewer]) expect(await knownTo(person, run), person.email).toEqual(NOTHING);
  await expect(chat.act('tasks_complete', { ...ref, task_id, approved: true }, owner)).rejects.toMatchObject({
    code: 'task_already_completed',
  });
});

test('a question of a private conversation is its owner’s alone', async () => {
  const { contributor, viewer, owner } = chat.acme;
  const run = await startWaiting(contributor, 'question');
  const { ref, task_id, thread } = run;
  expect(await knownTo(contributor, run)).toEqual({ said: true, call: false, task: true });
  for (const person of [owner, other, viewer]) expect(await knownTo(person, run), person.email).toEqual(NOTHING);
  const answer = { ...ref, task_id, approved: true, result: { answer: 'Yes' } };
  await expect(chat.act('tasks_complete', answer, other)).rejects.toMatchObject({ status: 404 });
  await expect(chat.act('tasks_assign', { ...ref, task_id, assignees: null }, owner)).rejects.toMatchObject({
    status: 404,
  });
  await chat.act('tasks_complete', answer, contributor);
  expect((await chat.settled(thread, contributor)).at(-1)?.metadata.status).toBe('completed');
});

test('a call for a viewer can be approved by contributors, who see only the call', async () => {
  const { viewer } = chat.acme;
  const run = await startWaiting(viewer, 'call');
  const { ref, task_id, thread } = run;
  expect(await knownTo(viewer, run)).toEqual(EVERYTHING);
  expect(await knownTo(other, run)).toEqual(TO_DECIDE);
  await chat.act('tasks_complete', { ...ref, task_id, approved: true }, other);
  await chat.settled(thread, viewer);
  expect(sent.splice(0)).toEqual([run.argument]);
});

test('a shared conversation is shown to everybody in the project', async () => {
  const { contributor, viewer } = chat.acme;
  const run = await startWaiting(contributor, 'call', 'project');
  const { ref, task_id, thread } = run;
  for (const person of [other, viewer]) expect(await knownTo(person, run), person.email).toEqual(EVERYTHING);
  await chat.act('tasks_complete', { ...ref, task_id, approved: false }, contributor);
  await chat.settled(thread, contributor);
});

test('of a conversation that was deleted, nobody is shown anything, also once its rows are purged', async () => {
  const { contributor, viewer, owner } = chat.acme;
  for (const visibility of ['private', 'project']) {
    const run = await startWaiting(contributor, 'call', visibility);
    const { ref, task_id, thread } = run;
    await chat.act('chat_delete_thread', { id: thread }, contributor);
    const people = [contributor, owner, other, viewer];
    for (const person of people) expect(await knownTo(person, run), person.email).toEqual(NOTHING);
    await expect(chat.act('tasks_complete', { ...ref, task_id, approved: true }, other)).rejects.toMatchObject({
      status: 404,
    });
    for (const person of people)
      for (const name of ['runs_list_events', 'runs_get_summary', 'runs_get_snapshot'] as const)
        await expect(chat.act(name, { ...ref }, person), name).rejects.toMatchObject({ code: 'private_run' });
  }
});

test('only people who see a task are notified of it', async () => {
  const { services } = chat.service.container;
  const { contributor, viewer, owner } = chat.acme;
  const { pool } = chat.service.db;
  const people = [contributor, owner, other, viewer];
  const notified = async ({ runID }: Ref) => {
    while (await enqueueNext(services));
    const { rows } = await pool.query<{ user_id: string }>(
      `SELECT user_id FROM notification_deliveries WHERE run_id = $1 AND channel = 'browser'`,
      [runID],
    );
    return people.filter(({ userId }) => rows.some(({ user_id }) => user_id === userId)).map(({ email }) => email);
  };
  for (const person of people) await chat.act('me_notifications_patch', { browser: ['task_waiting'] }, person);
  const call = await startWaiting(contributor, 'call');
  // The job of the service may not have added the notifications yet.
  await expect.poll(() => notified(call.ref)).toEqual([contributor, owner, other].map(({ email }) => email));
  const question = await startWaiting(contributor, 'question');
  await expect.poll(() => notified(question.ref)).toEqual([contributor.email]);
  await chat.act('chat_delete_thread', { id: call.thread }, contributor);
  expect(await knownTo(owner, call)).toMatchObject({ said: false, call: false });
});
