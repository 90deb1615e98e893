import { afterAll, beforeAll, expect, test } from 'vitest';
import { WebSocket } from 'ws';
import { z } from 'zod';
import type { Principal } from '../../operation/context.ts';
import { scopes } from '../../orchestrator/ports/authority.ts';
import { newId } from '../../platform/ids.ts';
import { type ChatService, saidIn, startChatService } from '../../testing/chat.ts';
import { createTestMember, createTestPat, createTestTenant } from '../../testing/identity.ts';
import { AnswerUsage } from './schemas.ts';

let chat: ChatService;
beforeAll(async () => {
  chat = await startChatService();
});
afterAll(() => chat.close());

const promptOf = (index: number) =>
  z.object({ messages: z.array(z.looseObject({ role: z.string() })) }).parse(chat.fake.requests[index]?.body).messages;

test('a run answers a message, and the next message has both in its context', async () => {
  chat.fake.script({ answers: [{ content: [{ text: ['It is ', 'open.'] }] }, { content: [{ text: 'Until six.' }] }] });
  chat.fake.requests.length = 0;
  const id = await chat.thread();
  const sent = await chat.act('chat_send_message', { id, text: 'Is the shop open?\nTell me.', message_id: 'm1' });
  expect(sent).toMatchObject({ thread_id: id, message_id: 'm1', status: 'running' });
  const [question, answer] = await chat.settled(id);
  expect(question).toMatchObject({ id: 'm1', role: 'user', metadata: { parent_id: null, status: 'sent' } });
  expect(answer).toMatchObject({
    id: sent.run_id,
    role: 'assistant',
    metadata: { parent_id: 'm1', status: 'completed' },
  });
  expect(saidIn(answer)).toBe('It is open.');
  const {
    metadata: { usage },
  } = z.object({ metadata: z.object({ usage: AnswerUsage }) }).parse(answer);
  expect(usage.context_tokens).toBe(usage.input_tokens + usage.output_tokens);
  expect(usage).toMatchObject({ output_tokens: expect.any(Number), context_window: 32_768 });
  expect(usage.credits_microcredits).toBeGreaterThan(0);
  expect(question).toMatchObject({ metadata: { usage: null } });
  await chat.act('chat_send_message', { id, text: 'Until when?' });
  expect((await chat.settled(id)).map(saidIn)).toEqual([
    'Is the shop open?\nTell me.',
    'It is open.',
    'Until when?',
    'Until six.',
  ]);
  expect(promptOf(1).slice(1)).toMatchObject([
    { role: 'user', content: 'Is the shop open?\nTell me.' },
    { role: 'assistant', content: 'It is open.' },
    { role: 'user', content: 'Until when?' },
  ]);
  expect(await chat.act('chat_get_thread', { id })).toMatchObject({
    title: 'Is the shop open?',
    message_count: 4,
    active_run_id: null,
    model: 'openai_compatible/scripted',
    agent_id: null,
  });
  const run = { id: sent.workflow_id, runID: sent.run_id };
  expect(await chat.act('runs_get_summary', run)).toMatchObject({
    status: 'completed',
    trigger_type: 'chat',
    session_id: id,
  });
  const { runs } = await chat.act('runs_list_tenant', {});
  expect(runs).toEqual([]);
});

test('a repeated message id is answered once, even with concurrent requests', async () => {
  chat.fake.script({ answers: [{ content: [{ text: 'Once.' }] }] });
  const id = await chat.thread();
  const send = () => chat.act('chat_send_message', { id, text: 'Hello', message_id: 'same' });
  const [first, second] = await Promise.all([send(), send()]);
  expect(second.run_id).toBe(first.run_id);
  expect(await chat.settled(id)).toHaveLength(2);
  expect((await send()).run_id).toBe(first.run_id);
  const other = chat.act('chat_send_message', { id, text: 'Hello!', message_id: 'same' });
  await expect(other).rejects.toMatchObject({ status: 409, code: 'message_id_reused' });
  expect(await chat.settled(id)).toHaveLength(2);
});

test('during an answer, a message is queued, refused, or interrupts the answer', async () => {
  chat.fake.script({
    answers: [
      { content: [{ text: 'One' }, { hold: 'one' }, { text: '.' }] },
      { content: [{ text: 'Two.' }] },
      { content: [{ text: 'Three, and ' }, { hold: 'three' }, { text: 'never this.' }] },
      { content: [{ text: 'Four.' }] },
    ],
  });
  const id = await chat.thread();
  const send = (text: string, when_busy?: string) =>
    chat.act('chat_send_message', { id, text, ...(when_busy && { when_busy }) });
  await send('1');
  await chat.fake.held('one');
  await expect(send('refused', 'reject')).rejects.toMatchObject({ status: 409, code: 'thread_busy' });
  expect(await send('2')).toMatchObject({ status: 'queued' });
  chat.fake.release('one');
  expect((await chat.settled(id)).map(saidIn)).toEqual(['1', 'One.', '2', 'Two.']);
  await send('3');
  await chat.fake.held('three');
  expect(await send('4', 'interrupt')).toMatchObject({ status: 'queued' });
  const messages = await chat.settled(id);
  expect(messages.slice(4).map(saidIn)).toEqual(['3', 'Three, and ', '4', 'Four.']);
  expect(messages[5]?.metadata.status).toBe('stopped');
});

test('of two concurrent messages, the second one is queued or refused', async () => {
  const both = (id: string, when_busy: string) =>
    Promise.allSettled(['a', 'b'].map(text => chat.act('chat_send_message', { id, text, when_busy })));
  chat.fake.script({ answers: [{ content: [{ hold: 'both' }, { text: '1' }] }, { content: [{ text: '2' }] }] });
  const id = await chat.thread();
  const statuses = (await both(id, 'queue')).map(each => each.status === 'fulfilled' && each.value.status);
  expect(statuses.toSorted()).toEqual(['queued', 'running']);
  chat.fake.release('both');
  expect((await chat.settled(id)).filter(({ role }) => role === 'assistant').map(saidIn)).toEqual(['1', '2']);
  chat.fake.script({ answers: [{ content: [{ hold: 'one' }, { text: '3' }] }] });
  const refused = (await both(id, 'reject')).filter(each => each.status === 'rejected').map(({ reason }) => reason);
  expect(refused).toMatchObject([{ status: 409, code: 'thread_busy' }]);
  chat.fake.release('one');
  expect(saidIn((await chat.settled(id)).at(-1))).toBe('3');
});

test('a stop keeps the text of the answer for later messages, and withdraws queued messages', async () => {
  chat.fake.script({
    answers: [{ content: [{ text: 'Once upon a time' }, { hold: 'tale' }] }, { content: [{ text: 'As you wish.' }] }],
  });
  const id = await chat.thread();
  const { run_id } = await chat.act('chat_send_message', { id, text: 'A tale!' });
  await chat.fake.held('tale');
  await chat.act('chat_send_message', { id, text: 'And another!' });
  expect(await chat.act('chat_stop', { id })).toEqual({ thread_id: id, stopped_run_id: run_id, withdrawn: 1 });
  const [, answer, , withdrawn] = await chat.settled(id);
  expect(answer?.metadata.status).toBe('stopped');
  expect(saidIn(answer)).toBe('Once upon a time');
  expect(withdrawn?.metadata.status).toBe('withdrawn');
  expect(await chat.act('chat_stop', { id })).toEqual({ thread_id: id, stopped_run_id: null, withdrawn: 0 });
  chat.fake.requests.length = 0;
  await chat.act('chat_send_message', { id, text: 'Enough.', parent_id: run_id });
  expect(saidIn((await chat.settled(id)).at(-1))).toBe('As you wish.');
  expect(promptOf(0).slice(1)).toMatchObject([
    { role: 'user', content: 'A tale!' },
    { role: 'assistant', content: 'Once upon a time' },
    { role: 'user', content: 'Enough.' },
  ]);
});

test('editing and regenerating create branches, and a fork copies a branch', async () => {
  chat.fake.script({ answers: ['A', 'B', 'C', 'D'].map(text => ({ content: [{ text }] })) });
  const id = await chat.thread({ title: 'Branches' });
  const first = await chat.act('chat_send_message', { id, text: 'one', message_id: 'one' });
  await chat.settled(id);
  await chat.act('chat_send_message', { id, text: 'two', message_id: 'two' });
  await chat.settled(id);
  const edited = await chat.act('chat_send_message', {
    id,
    text: 'two, edited',
    message_id: 'three',
    parent_id: first.run_id,
  });
  await chat.settled(id);
  expect((await chat.act('chat_get_thread', { id })).head_id).toBe(edited.run_id);
  const again = await chat.act('chat_regenerate', { id, message_id: 'three', request_id: 'r' });
  expect(await chat.act('chat_regenerate', { id, message_id: 'three', request_id: 'r' })).toMatchObject({
    run_id: again.run_id,
  });
  const messages = await chat.settled(id);
  expect(messages.map(message => [saidIn(message), message.metadata.parent_id])).toEqual([
    ['one', null],
    ['A', 'one'],
    ['two', first.run_id],
    ['B', 'two'],
    ['two, edited', first.run_id],
    ['C', 'three'],
    ['D', 'three'],
  ]);
  const fork = await chat.act('chat_fork_thread', { id, message_id: edited.run_id });
  expect(fork).toMatchObject({ title: 'Branches', message_count: 4, head_id: edited.run_id });
  const copies = await chat.messages(fork.id);
  expect(copies.map(saidIn)).toEqual(['one', 'A', 'two, edited', 'C']);
  expect(copies[1]).toMatchObject({ metadata: { usage: { context_window: 32_768, credits_microcredits: 0 } } });
  await chat.act('chat_patch_thread', { id, head_id: edited.run_id, title: 'Renamed' });
  expect(await chat.act('chat_get_thread', { id })).toMatchObject({ head_id: edited.run_id, title: 'Renamed' });
  for (const parent_id of ['one', 'unknown'])
    await expect(chat.act('chat_send_message', { id, text: 'x', parent_id })).rejects.toMatchObject({ status: 422 });
});

test('a thread without a usable model is refused with the place to add a key', async () => {
  const { services } = chat.service.container;
  const bare = await createTestTenant(services, { slug: 'bare' });
  for (const input of [{}, { model: 'openai/gpt-5' }]) {
    const refused = chat.act('chat_create_thread', input, bare.owner);
    await expect(refused).rejects.toMatchObject({
      status: 422,
      code: 'model_not_configured',
      message: expect.stringContaining('Model keys'),
    });
  }
});

test('only the owner sees a private thread; all members read and continue a shared one, which its owner manages', async () => {
  chat.fake.script({ answers: [{ content: [{ text: 'Hello.' }] }] });
  const { viewer, contributor } = chat.acme;
  const id = await chat.thread({}, contributor);
  for (const name of ['chat_get_thread', 'chat_list_messages', 'chat_stop', 'chat_delete_thread'] as const)
    await expect(chat.act(name, { id }, viewer)).rejects.toMatchObject({ status: 404 });
  expect((await chat.act('chat_list_threads', {}, viewer)).threads).toEqual([]);
  await chat.act('chat_patch_thread', { id, visibility: 'project' }, contributor);
  await chat.act('chat_send_message', { id, text: 'Hi' }, viewer);
  expect((await chat.settled(id))[0]?.metadata.sent_by).toBe(viewer.email);
  await expect(chat.act('chat_delete_thread', { id }, viewer)).rejects.toMatchObject({ code: 'not_thread_owner' });
  await chat.act('chat_archive_thread', { id }, contributor);
  await expect(chat.act('chat_send_message', { id, text: 'Hi' }, viewer)).rejects.toMatchObject({
    code: 'thread_archived',
  });
  expect((await chat.act('chat_list_threads', { archived: 'true' }, viewer)).threads).toHaveLength(1);
  await chat.act('chat_archive_thread', { id, archived: false }, contributor);
  await chat.act('chat_delete_thread', { id }, contributor);
  await expect(chat.act('chat_get_thread', { id }, contributor)).rejects.toMatchObject({ status: 404 });
  const { rows } = await chat.service.db.pool.query('SELECT parts FROM chat_messages WHERE thread_id = $1', [id]);
  expect(rows.map(({ parts }) => parts)).toEqual([[], []]);
});

test('only the owner can read the run of a private answer, on every surface', async () => {
  chat.fake.script({ answers: [{ content: [{ text: 'Between us.' }] }] });
  const { viewer, contributor, owner } = chat.acme;
  const thread = await chat.thread({}, contributor);
  const { run_id: runID, workflow_id: id } = await chat.act(
    'chat_send_message',
    { id: thread, text: 'Hi' },
    contributor,
  );
  await chat.settled(thread, contributor);
  const ref = { id, runID };
  const { events } = (await chat.act('runs_list_events', ref, contributor)) as unknown as { events: object[] };
  expect(JSON.stringify(events)).toContain('Between us.');
  const reads = {
    runs_get_summary: ref,
    runs_get_snapshot: ref,
    runs_list_events: ref,
    runs_get_context: ref,
    runs_list_called: ref,
    runs_get_step: { ...ref, step_id: 'agent' },
    runs_get_prompt: { ...ref, step_id: 'agent.1' },
    runs_get_payload: { ...ref, payload_id: newId() },
    runs_rerun: ref,
  } as const;
  const { services } = chat.service.container;
  const base = chat.service.url;
  for (const other of [viewer, owner]) {
    for (const [name, input] of Object.entries(reads))
      if (name !== 'runs_rerun' || other === owner)
        await expect(chat.act(name as keyof typeof reads, input, other), name).rejects.toMatchObject({
          status: 403,
          code: 'private_run',
        });
    const { token } = await createTestPat(services, other, scopes);
    const headers = { Authorization: `Bearer ${token}` };
    for (const path of [`/v1/workflows/${id}/runs/${runID}/stream`, `/v1/workflows/${id}/runs/${runID}/events`])
      expect((await fetch(`${base}${path}`, { headers })).status).toBe(403);
  }
  // Others can read its state, its cost and the tasks that wait for them.
  await chat.act('tasks_list_pending_run', ref);
  const { runs } = (await chat.act('runs_list_tenant', { kind: 'agent', workflow_id: id }, viewer)) as unknown as {
    runs: { run_id: string }[];
  };
  expect(runs.map(({ run_id }) => run_id)).toContain(runID);
  expect((await chat.act('runs_list_tenant', {}, viewer)).runs).toEqual([]);
  await chat.act('chat_patch_thread', { id: thread, visibility: 'project' }, contributor);
  expect((await chat.act('runs_get_summary', ref, viewer)).status).toBe('completed');
});

test('the stream of all runs leaves out the private answers of others', async () => {
  chat.fake.script({ answers: ['One.', 'Two.'].map(text => ({ content: [{ text }] })) });
  const { viewer, contributor } = chat.acme;
  const [hidden, shared] = [
    await chat.thread({}, contributor),
    await chat.thread({ visibility: 'project' }, contributor),
  ];
  const { workflow_id } = await chat.act('chat_get_thread', { id: hidden }, contributor);
  const watch = async (by: Principal) => {
    const { token } = await createTestPat(chat.service.container.services, by, scopes);
    const url = `${chat.service.url.replace('http', 'ws')}/v1/workflows/${workflow_id}/stream`;
    const socket = new WebSocket(url, { headers: { Authorization: `Bearer ${token}` } });
    const frames: string[] = [];
    socket.on('message', data => frames.push(String(data)));
    await expect.poll(() => frames.length).toBe(1);
    return { socket, frames };
  };
  const [other, own] = [await watch(viewer), await watch(contributor)];
  const runs: string[] = [];
  for (const id of [hidden, shared]) {
    runs.push((await chat.act('chat_send_message', { id, text: 'Hi' }, contributor)).run_id);
    await chat.settled(id, contributor);
  }
  const runsSeen = ({ frames }: typeof own) => runs.map(run => frames.some(frame => frame.includes(run)));
  // Both streams have received the last frame of the second run.
  const ends = ({ frames }: typeof own) =>
    frames.some(frame => frame.includes(runs[1] ?? '?') && frame.includes('"to":"completed"'));
  await expect.poll(() => [own, other].map(ends)).toEqual([true, true]);
  expect(runsSeen(own)).toEqual([true, true]);
  expect(runsSeen(other)).toEqual([false, true]);
  other.socket.terminate();
  own.socket.terminate();
});

test('a queued answer starts with the rights that its sender has at that time', async () => {
  chat.fake.script({ answers: [{ content: [{ hold: 'busy' }, { text: 'First.' }] }] });
  const { services } = chat.service.container;
  const leaver = await createTestMember(services, chat.acme, 'project_viewer', 'leaver@example.com');
  const id = await chat.thread({ visibility: 'project' });
  await chat.act('chat_send_message', { id, text: 'first' });
  await chat.fake.held('busy');
  await chat.act('chat_send_message', { id, text: 'second' }, leaver);
  await chat.service.db.pool.query('DELETE FROM memberships WHERE user_id = $1', [leaver.userId]);
  chat.fake.release('busy');
  const messages = await chat.settled(id);
  expect(messages.at(-1)?.metadata).toMatchObject({ status: 'refused', error: { code: 'authority_lost' } });
});

test('the next leader starts a stored answer once', async () => {
  chat.fake.script({ answers: [{ content: [{ text: 'Late.' }] }] });
  const id = await chat.thread();
  const { orchestrator } = chat.service.container.services;
  const { start } = orchestrator;
  // This simulates a crash between storing and starting.
  orchestrator.start = () => Promise.reject(new Error('died'));
  await expect(chat.act('chat_send_message', { id, text: 'Hello', message_id: 'm' })).rejects.toThrow('died');
  orchestrator.start = start;
  const messages = await chat.settled(id);
  expect(messages.map(saidIn)).toEqual(['Hello', 'Late.']);
});

test('a refused start removes the message', async () => {
  const made = await chat.act('agents_create', { name: 'Off', model: 'openai_compatible/scripted' });
  const id = await chat.thread({ agent_id: made.id });
  await chat.act('agents_patch', { id: made.id, status: 'disabled' });
  const send = () => chat.act('chat_send_message', { id, text: 'Hello', message_id: 'm' });
  await expect(send()).rejects.toMatchObject({ status: 422, code: 'agent_disabled' });
  expect(await chat.messages(id)).toEqual([]);
  await chat.act('agents_patch', { id: made.id, status: 'active' });
  chat.fake.script({ answers: [{ content: [{ text: 'On.' }] }] });
  await send();
  expect((await chat.settled(id)).map(saidIn)).toEqual(['Hello', 'On.']);
});
