import { afterAll, beforeAll, expect, test } from 'vitest';
import { type ChatService, saidIn, startChatService } from '../../../testing/chat.ts';
import { createTestMember, createTestPat } from '../../../testing/identity.ts';
import { openSse, type ReceivedChunk } from '../../../testing/sse-client.ts';
import { MessageParts, textOf } from './parts.ts';

let chat: ChatService;
beforeAll(async () => {
  chat = await startChatService();
});
afterAll(() => chat.close());

const headers = (more: Record<string, string> = {}) => ({ Authorization: `Bearer ${chat.token}`, ...more });
const open = (id: string, after?: string) =>
  openSse(
    `${chat.service.url}/v1/chat/threads/${id}/stream`,
    headers(after === undefined ? {} : { 'Last-Event-ID': after }),
  );
const types = (received: readonly ReceivedChunk[]) => received.map(({ chunk }) => chunk.type);
const deltas = (received: readonly ReceivedChunk[]) =>
  received.flatMap(({ chunk }) => (chunk.type === 'text-delta' ? chunk.delta : [])).join('');

/**
 * A client that folds the chunks it receives into the message it shows. A client that reloads starts with a new
 * `Reader`.
 */
class Reader {
  message = new MessageParts();
  last: string | undefined;

  take(received: readonly ReceivedChunk[]): void {
    for (const { id, chunk } of received) {
      this.message.add(chunk);
      if (id !== null) this.last = id;
    }
  }

  get text(): string {
    return textOf(this.message.parts);
  }
}

test('an answer is streamed while it is written; only chunks of events have ids', async () => {
  chat.fake.script({ answers: [{ content: [{ text: ['Hel', 'lo'] }, { hold: 'middle' }, { text: [' wor', 'ld'] }] }] });
  const id = await chat.thread();
  const { run_id } = await chat.act('chat_send_message', { id, text: 'Hi' });
  await chat.fake.held('middle');
  const stream = await open(id);
  expect(stream.headers).toMatchObject({
    'content-type': 'text/event-stream; charset=utf-8',
    'x-vercel-ai-ui-message-stream': 'v1',
  });
  await expect.poll(() => deltas(stream.received)).toBe('Hello');
  chat.fake.release('middle');
  await stream.ended;
  expect(deltas(stream.received)).toBe('Hello world');
  expect(types(stream.received.filter(({ id: seq }) => seq !== null))).toEqual([
    'start',
    'start-step',
    'text-end',
    'finish',
  ]);
  for (const { id: seq } of stream.received) if (seq !== null) expect(seq).toMatch(new RegExp(`^${run_id}:\\d+$`));
  expect((await chat.settled(id)).map(saidIn)).toEqual(['Hi', 'Hello world']);
});

test('a stream without an active answer is 204, or the rest that the client lacks', async () => {
  chat.fake.script({ answers: [{ content: [{ text: 'Done.' }] }] });
  const id = await chat.thread();
  expect((await open(id)).status).toBe(204);
  const { run_id } = await chat.act('chat_send_message', { id, text: 'Hi' });
  await chat.settled(id);
  expect((await open(id)).status).toBe(204);
  const rest = await open(id, `${run_id}:1`);
  await rest.ended;
  expect(deltas(rest.received)).toBe('Done.');
  const last = rest.received.findLast(({ id: seq }) => seq !== null)?.id ?? '';
  expect((await open(id, last)).status).toBe(204);
  for (const malformed of ['x', `${run_id}:x`, run_id]) expect((await open(id, malformed)).status).toBe(422);
  // This value has the length of an id but not its format.
  expect((await open(id, `${'-'.repeat(36)}:1`)).status).toBe(204);
  // A run of another thread is no cursor of this one.
  expect((await open(await chat.thread(), `${run_id}:1`)).status).toBe(204);
});

test('POST to the stream answers in the response, also when the message is queued', async () => {
  chat.fake.script({ answers: [{ content: [{ text: 'One' }, { hold: 'one' }] }, { content: [{ text: 'Two' }] }] });
  const id = await chat.thread();
  await chat.act('chat_send_message', { id, text: '1' });
  await chat.fake.held('one');
  const response = await fetch(`${chat.service.url}/v1/chat/threads/${id}/stream`, {
    method: 'POST',
    headers: headers({ 'Content-Type': 'application/json' }),
    body: JSON.stringify({ text: '2' }),
  });
  expect(response.status).toBe(200);
  chat.fake.release('one');
  expect(await response.text()).toContain('"delta":"Two"');
});

test('the stream of a queued message ends when the message is withdrawn or refused', async () => {
  const { services } = chat.service.container;
  chat.fake.script({ answers: [{ content: [{ text: 'One' }, { hold: 'first' }] }, { content: [{ hold: 'second' }] }] });
  const id = await chat.thread({ visibility: 'project' });
  const send = async (gate: string) => {
    await chat.act('chat_send_message', { id, text: 'busy' });
    await chat.fake.held(gate);
  };
  const wait = (token: string) =>
    fetch(`${chat.service.url}/v1/chat/threads/${id}/stream`, {
      method: 'POST',
      headers: { Authorization: `Bearer ${token}`, 'Content-Type': 'application/json' },
      body: JSON.stringify({ text: 'waits' }),
    });
  await send('first');
  const withdrawn = await wait(chat.token);
  await chat.act('chat_stop', { id });
  expect(await withdrawn.text()).toContain('The message was withdrawn');
  const { messages } = await chat.act('chat_list_messages', { id });
  expect((await open(id, `${messages.at(-1)?.id}:1`)).status).toBe(204);
  await chat.settled(id);
  await send('second');
  const leaver = await createTestMember(services, chat.acme, 'project_viewer', 'leaves@example.com');
  const { token } = await createTestPat(services, leaver, ['ai:use', 'mcp:execute']);
  const refused = await wait(token);
  await chat.service.db.pool.query('DELETE FROM project_members WHERE user_id = $1', [leaver.userId]);
  chat.fake.release('second');
  // The stream sends the reason, unless the check of its credential ends it first.
  await refused.text();
  expect((await chat.settled(id)).at(-1)?.metadata).toMatchObject({
    status: 'refused',
    error: { code: 'authority_lost' },
  });
});

/** Returns a seeded generator of random numbers, so that a failure can be reproduced. */
function randomFrom(seed: number): () => number {
  let state = seed;
  return () => {
    state = (state * 1_103_515_245 + 12_345) % 2_147_483_648;
    return state / 2_147_483_648;
  };
}

test('after 100 cuts at random bytes, resumed and reloaded clients have exactly the stored text', async () => {
  const random = randomFrom(7);
  const CUTS = 10;
  for (let round = 0; round < 10; round++) {
    const gates = Array.from({ length: CUTS }, (_, at) => `cut ${round} ${at}`);
    const pieces = gates.flatMap((hold, at) => [
      { text: Array.from({ length: 12 }, (_, word) => `${round}/${at}/${word} ünï🙂 `) },
      { hold },
    ]);
    chat.fake.script({ answers: [{ content: [{ reasoning: ['I ', 'think.'] }, ...pieces, { text: 'The end.' }] }] });
    const id = await chat.thread();
    await chat.act('chat_send_message', { id, text: 'Go' });
    const resuming = new Reader();
    let reloading = new Reader();
    for (const [at, gate] of gates.entries()) {
      await chat.fake.held(gate);
      reloading = new Reader();
      const streams = await Promise.all([open(id, resuming.last), open(id)]);
      const enough = streams.map(stream => stream.bytes(1 + Math.floor(random() * 2_500)));
      chat.fake.release(gate);
      const next = gates[at + 1];
      await Promise.race([
        Promise.all(enough),
        next === undefined ? Promise.all(streams.map(({ ended }) => ended)) : chat.fake.held(next),
      ]);
      for (const stream of streams) stream.cut();
      resuming.take(streams[0].received);
      // A client without a cursor begins with an empty message.
      if (resuming.last === undefined) resuming.message = new MessageParts();
      reloading.take(streams[1].received);
    }
    const stored = saidIn((await chat.settled(id)).at(-1));
    for (const reader of [resuming, reloading]) {
      if (reader.last === undefined) continue;
      const rest = await open(id, reader.last);
      await rest.ended;
      reader.take(rest.received);
      expect(reader.text).toBe(stored);
    }
    expect(stored).toContain(`${round}/9/11 ünï🙂 The end.`);
  }
});

test('an answer that is too large for an event is streamed, resumed and saved completely', async () => {
  const long = 'x'.repeat(200_000);
  chat.fake.script({
    answers: [{ content: [{ text: 'Short. ' }, { hold: 'long' }, { text: [long, long] }, { text: 'End.' }] }],
  });
  const id = await chat.thread();
  await chat.act('chat_send_message', { id, text: 'Go' });
  await chat.fake.held('long');
  const stream = await open(id);
  await expect.poll(() => deltas(stream.received)).toBe('Short. ');
  const early = new Reader();
  early.take(stream.received);
  chat.fake.release('long');
  await stream.ended;
  const stored = saidIn((await chat.settled(id)).at(-1));
  expect(stored).toBe(`Short. ${long}${long}End.`);
  expect(deltas(stream.received)).toBe(stored);
  const rest = await open(id, early.last);
  await rest.ended;
  early.take(rest.received);
  expect(early.text).toBe(stored);
});
