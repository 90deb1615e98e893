import { Client } from '@modelcontextprotocol/sdk/client/index.js';
import { StreamableHTTPClientTransport } from '@modelcontextprotocol/sdk/client/streamableHttp.js';
import { afterAll, beforeAll, expect, test } from 'vitest';
import type { Principal } from '../../../operation/context.ts';
import { newId } from '../../../platform/ids.ts';
import { type ChatService, startChatService } from '../../../testing/chat.ts';
import { createTestMember, createTestTenant, withScopes } from '../../../testing/identity.ts';
import { runEndsOf } from '../../runs/waiting/run-ends.ts';

type Read = { text: string; next: number; length: number; is_complete: boolean; status: string };
let chat: ChatService;
let client: Client;
beforeAll(async () => {
  chat = await startChatService();
  client = new Client({ name: 'test', version: '1' });
  const requestInit = { headers: { Authorization: `Bearer ${chat.token}` } };
  await client.connect(new StreamableHTTPClientTransport(new URL(`${chat.service.url}/mcp`), { requestInit }));
});
afterAll(async () => {
  await client.close();
  await chat.close();
});

type Ref = { id: string; runID: string };
const readAnswer = async (ref: Ref, more: object = {}, by?: Principal) =>
  (await chat.act('runs_read_answer', { ...ref, ...more }, by)) as unknown as Read;
/** Starts an answer and returns its run. */
async function startAnswer(content: object[], input: object = {}): Promise<Ref & { thread: string }> {
  chat.fake.script({ answers: [{ content }] } as never);
  const thread = await chat.thread(input);
  await chat.act('chat_send_message', { id: thread, text: 'Hi' });
  const { workflow_id, active_run_id } = await chat.act('chat_get_thread', { id: thread });
  return { id: workflow_id, runID: String(active_run_id), thread };
}

test('an answer can be read in parts while it is written, over REST and MCP', async () => {
  const long = 'x'.repeat(150);
  const { thread, ...ref } = await startAnswer([{ text: [long, '😀'] }, { hold: 'middle' }, { text: [' end'] }]);
  await chat.fake.held('middle');
  await expect.poll(async () => (await readAnswer(ref)).length).toBe(152);
  const result = await client.callTool({
    name: 'runs_read_answer',
    arguments: { id: ref.id, run_id: ref.runID, max_chars: 100 },
  });
  expect(result.structuredContent).toMatchObject({
    text: 'x'.repeat(100),
    next: 100,
    length: 152,
    status: 'running',
    is_complete: false,
  });
  // A surrogate pair is not cut.
  expect(await readAnswer(ref, { after: 51, max_chars: 100 })).toMatchObject({ text: 'x'.repeat(99), next: 150 });
  expect(await readAnswer(ref, { after: 152 })).toMatchObject({ text: '', next: 152, is_complete: false });
  expect(await readAnswer(ref, { after: 9_999 })).toMatchObject({ text: '', next: 152, length: 152 });
  expect(await readAnswer(ref, { step_id: 'other' })).toMatchObject({ text: '', length: 0 });
  chat.fake.release('middle');
  await chat.settled(thread);
  const end = { text: '😀 end', next: 156, length: 156, is_complete: true, status: 'completed' };
  await expect.poll(() => readAnswer(ref, { after: 150 })).toMatchObject(end);
  // A read of an ended run does not wait.
  expect(await readAnswer(ref, { after: 156, wait_s: 30 })).toMatchObject({ text: '', is_complete: true });
});

test('a read of an active run waits for enough text or for the next step', async () => {
  const { thread, ...ref } = await startAnswer([{ hold: 'begin' }, { text: ['y'.repeat(100)] }, { hold: 'rest' }]);
  await chat.fake.held('begin');
  const { services } = chat.service.container;
  const expectWaiting = () => expect.poll(() => runEndsOf(services).reserved).toBe(1);
  const much = readAnswer(ref, { wait_s: 30, max_chars: 100 });
  await expectWaiting();
  chat.fake.release('begin');
  expect(await much).toMatchObject({ text: 'y'.repeat(100), is_complete: false });
  await chat.fake.held('rest');
  const rest = readAnswer(ref, { after: 100, wait_s: 30 });
  await expectWaiting();
  chat.fake.release('rest');
  await rest;
  await chat.settled(thread);
  expect(runEndsOf(services).reserved).toBe(0);
});

test('a read needs the right to read runs, and access to a private thread', async () => {
  const { services } = chat.service.container;
  const { thread, ...ref } = await startAnswer([{ text: ['Secret'] }]);
  await chat.settled(thread);
  const { acme } = chat;
  const project = { tenantId: acme.tenantId, projectId: acme.projectId };
  const admin = await createTestMember(services, project, 'tenant_admin', 'other-admin@acme.example.com');
  for (const by of [acme.viewer, acme.contributor, admin])
    for (const more of [{}, { wait_s: 1 }])
      await expect(readAnswer(ref, more, by)).rejects.toMatchObject({ status: 403, code: 'private_run' });
  await expect(readAnswer(ref, {}, withScopes(acme.owner, 'ai:use'))).rejects.toMatchObject({
    code: 'insufficient_scope',
  });
  expect(await readAnswer(ref, {}, withScopes(acme.owner, 'workflow:read'))).toMatchObject({ text: 'Secret' });
  const globex = await createTestTenant(services, { slug: 'globex' });
  await expect(readAnswer(ref, {}, globex.owner)).rejects.toMatchObject({ status: 404 });
  await expect(readAnswer({ ...ref, runID: newId() })).rejects.toMatchObject({ status: 404 });
  for (const wrong of [{ after: -1 }, { max_chars: 50_001 }, { max_chars: 99 }, { wait_s: 31 }])
    await expect(readAnswer(ref, wrong)).rejects.toMatchObject({ status: 422 });
  await chat.act('chat_patch_thread', { id: thread, visibility: 'project' });
  expect(await readAnswer(ref, {}, acme.viewer)).toMatchObject({ text: 'Secret' });
  // No one can read the answers of a deleted thread.
  await chat.act('chat_delete_thread', { id: thread });
  await expect(readAnswer(ref)).rejects.toMatchObject({ code: 'private_run' });
});

test('a read can be limited to one of several agents', async () => {
  const agent = (id: string, ...depends_on: string[]) => ({
    id,
    type: 'agent',
    model: 'openai_compatible/scripted',
    prompt: id,
    depends_on,
  });
  chat.fake.script({ answers: [{ content: [{ text: ['One.'] }] }, { content: [{ text: ['Two.'] }] }] } as never);
  const graph = { steps: [agent('first'), agent('second', 'first')] };
  const { id } = await chat.act('workflows_create', { name: 'Two agents', graph });
  await chat.act('workflows_publish_version', { id });
  const { run_id: runID } = await chat.act('workflows_execute_command', { id, command: 'start', params: {} });
  await expect.poll(() => readAnswer({ id, runID })).toMatchObject({ text: 'One.Two.', is_complete: true });
  expect(await readAnswer({ id, runID }, { step_id: 'second' })).toMatchObject({ text: 'Two.', is_complete: true });
});
