import { afterAll, beforeAll, expect, test } from 'vitest';
import type { z } from 'zod';
import { type ChatService, startChatService } from '../../../testing/chat.ts';
import { createTestMember, createTestTenant, withScopes } from '../../../testing/identity.ts';
import { reached } from '../../../testing/runs.ts';
import type { ListRecalledOutput, ListUsesOutput } from './schemas.ts';

let chat: ChatService;
beforeAll(async () => {
  chat = await startChatService();
});
afterAll(() => chat?.close());

type By = Parameters<ChatService['act']>[2];
const services = () => chat.service.container.services;
const remember = async (subject: string, text: string, more: object = {}, by?: By): Promise<string> => {
  const made = await chat.act('memory_propose_items', { items: [{ subject, text, ...more }], remember: true }, by);
  return String((made as unknown as { items: { id: string }[] }).items[0]?.id);
};
const usesOf = async (id: string, more: object = {}, by?: By) =>
  (await chat.act('memory_items_list_uses', { id, ...more }, by)) as unknown as z.output<typeof ListUsesOutput>;
const recalledBy = async (input: object, by?: By) =>
  (await chat.act('memory_recalls_get', input, by)) as unknown as z.output<typeof ListRecalledOutput>;
const shared = { visibility: 'project' };
let agents = 0;
const newAgent = async () => {
  agents += 1;
  const memory = { read: ['private', 'project'] };
  const made = { name: `Clerk ${agents}`, model: 'openai_compatible/scripted', instructions: 'Be brief.', memory };
  return (await chat.act('agents_create', made)).id;
};
const script = () => chat.fake.script({ answers: [{ content: [{ text: 'Done.' }] }] });
async function startAgent(agent: string, message: string, by?: By): Promise<string> {
  script();
  const { run_id: run } = await chat.act('agents_run', { id: agent, input: { message } }, by);
  await reached(services(), chat.acme.owner, { id: agent, runID: run });
  return run;
}

test('a run lists the memories that it was given, and an item lists the runs that used it', async () => {
  const office = await remember('office', 'The office is in Lisbon.', shared);
  const agent = await newAgent();
  const first = await startAgent(agent, 'Where is the office?');
  const second = await startAgent(agent, 'Is the office large?');
  const given = await recalledBy({ runID: first });
  expect(given).toMatchObject({
    total: 1,
    memories: [{ id: office, type: 'item', text: 'The office is in Lisbon.', step_id: 'agent' }],
  });
  expect(await recalledBy({ runID: first, step_id: 'agent' })).toEqual(given);
  expect(await recalledBy({ runID: first, step_id: 'age' })).toEqual({ memories: [], total: 0 });
  const { uses, next_cursor } = await usesOf(office, { limit: 1 });
  expect(uses).toMatchObject([
    { via: 'run', mine: true, run_id: second, step_id: 'agent', workflow_id: agent, thread_id: null },
  ]);
  const rest = await usesOf(office, { limit: 1, cursor: next_cursor });
  expect(rest).toMatchObject({ uses: [{ run_id: first }], next_cursor: null });
  // Forgotten memories are counted, but not shown.
  await chat.act('memory_items_delete', { id: office });
  expect(await recalledBy({ runID: first })).toEqual({ memories: [], total: 1 });
});

test('a search of a program is a use without a run', async () => {
  const id = await remember('harbor', 'The harbor is closed on Mondays.');
  await chat.act('memory_tools_call', { tool: 'memory_search', arguments: { query: 'harbor' } });
  expect((await usesOf(id)).uses).toMatchObject([{ via: 'tool', mine: true, run_id: null, workflow_id: null }]);
});

test('other readers of a shared memory see that a private chat used it, but not which chat', async () => {
  const bridge = await remember('bridge', 'The bridge opens at noon.', shared);
  const agent = await newAgent();
  const thread = await chat.thread({ agent_id: agent });
  script();
  const { run_id: run } = await chat.act('chat_send_message', { id: thread, text: 'When does the bridge open?' });
  const answer = (await chat.settled(thread)).find(({ id }) => id === run);
  expect(answer?.parts).toContainEqual({ type: 'data-recall', id: 'agent', data: { memories: 1 } });
  const own = { via: 'chat', mine: true, run_id: run, workflow_id: agent, thread_id: thread };
  expect((await usesOf(bridge)).uses).toMatchObject([own]);
  const viewer = await createTestMember(services(), chat.acme, 'project_viewer', 'reader@example.com');
  expect((await usesOf(bridge, {}, viewer)).uses).toEqual([
    {
      recalled_at: expect.any(String),
      via: 'chat',
      mine: false,
      run_id: null,
      step_id: null,
      workflow_id: null,
      workflow_name: null,
      thread_id: null,
    },
  ]);
  await expect(recalledBy({ runID: run }, viewer)).rejects.toMatchObject({ status: 404 });
  await chat.act('chat_patch_thread', { id: thread, visibility: 'project' });
  expect((await usesOf(bridge, {}, viewer)).uses).toMatchObject([{ ...own, mine: false }]);
  expect((await recalledBy({ runID: run }, viewer)).total).toBe(1);
});

test('memories that are private to one person are counted for others, but not shown', async () => {
  const secret = await remember('tower', 'The tower of Ada is tall.');
  const run = await startAgent(await newAgent(), 'How is the tower?');
  expect((await recalledBy({ runID: run })).memories).toMatchObject([{ id: secret }]);
  const other = await createTestMember(services(), chat.acme, 'project_viewer', 'other@example.com');
  expect(await recalledBy({ runID: run }, other)).toEqual({ memories: [], total: 1 });
  await expect(usesOf(secret, {}, other)).rejects.toMatchObject({ status: 404 });
  const rival = await createTestTenant(services(), { slug: 'rival' });
  await expect(recalledBy({ runID: run }, rival.owner)).rejects.toMatchObject({ status: 404 });
  await expect(usesOf(secret, {}, rival.owner)).rejects.toMatchObject({ status: 404 });
  const withoutScope = withScopes(chat.acme.owner, 'workflow:read');
  await expect(recalledBy({ runID: run }, withoutScope)).rejects.toMatchObject({ status: 403 });
  await expect(recalledBy({ runID: run, step_id: 1 })).rejects.toMatchObject({ status: 422 });
});

test('the assistant is given memories about the question, and its answer says so', async () => {
  const item = { subject: 'ferry', text: 'The ferry leaves at nine.' };
  const made = await chat.act('memory_propose_items', { items: [item], remember: true });
  const thread = await chat.thread();
  script();
  const before = chat.fake.requests.length;
  const { run_id: run } = await chat.act('chat_send_message', { id: thread, text: 'When does the ferry leave?' });
  const answer = (await chat.settled(thread)).find(({ id }) => id === run);
  expect(JSON.stringify(chat.fake.requests[before]?.body)).toContain('The ferry leaves at nine.');
  expect(answer?.parts[0]).toEqual({ type: 'data-recall', id: 'agent', data: { memories: 1 } });
  const { id } = (made as unknown as { items: { id: string }[] }).items[0] ?? { id: '' };
  expect((await usesOf(id)).uses).toMatchObject([{ via: 'chat', thread_id: thread }]);
});

test('memories that a run was given are not extracted from it again', async () => {
  const by = await createTestMember(services(), chat.acme, 'project_contributor', 'extracts@example.com');
  await remember('garden', 'The garden of Ada has a gate.');
  const agent = await newAgent();
  const run = await startAgent(agent, 'What about the garden?');
  const turns = [{ role: 'tool', text: 'The garden of Ada has a gate. The gate is blue.' }];
  const index = (more: object) => chat.act('memory_index_conversation', { turns, ...more }, by);
  const about = { run_id: run, workflow_id: agent };
  const episode = String((await index(about)).episode_id);
  expect(await index(about)).toMatchObject({ deduplicated: true });
  const shown = await chat.act('memory_get_episode', { id: episode }, by);
  expect(shown).toMatchObject({ source: 'run', source_ref: run, trust: 'untrusted', visibility: 'private' });
  const item = { subject: 'gate', kind: 'fact', message: 1, asked_quote: '' };
  const items = [
    { ...item, text: 'Ada has a gate.', quote: 'garden of Ada has a gate' },
    { ...item, text: 'The gate is blue.', quote: 'gate is blue' },
  ];
  chat.fake.script({ answers: [{ content: [{ text: JSON.stringify({ items }) }] }] });
  const model = 'openai_compatible/scripted';
  const job = await chat.act('memory_extract_batch', { episode_ids: [episode], model }, by);
  const jobId = String(job.job_id);
  await reached(services(), by, { id: String(job.workflow_id), runID: jobId });
  expect(await chat.act('memory_extract_get', { jobId }, by)).toMatchObject({ proposed: 1, dropped: 1 });

  const rival = await createTestTenant(services(), { slug: 'other' });
  await expect(
    chat.act('memory_index_conversation', { turns, run_id: run, workflow_id: agent }, rival.owner),
  ).rejects.toMatchObject({ status: 404 });
  await expect(index({ run_id: run })).rejects.toMatchObject({
    status: 422,
    code: 'invalid_source',
    details: [{ path: 'workflow_id' }],
  });
  await expect(index({ ...about, thread_id: 'x' })).rejects.toMatchObject({ status: 422 });
  await expect(index({})).rejects.toMatchObject({ status: 422, details: [{ path: 'thread_id' }] });
});
