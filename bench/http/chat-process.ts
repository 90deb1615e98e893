import { once } from 'node:events';
import { createServer, get, type IncomingMessage, request, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { setTimeout as delay } from 'node:timers/promises';
import { type ChatOrder, type ChatReport, monotonicMs, ownCpuSeconds, tellParent } from './protocol.ts';

/**
 * Clients of chats, and the model that they chat with, in one process, so that both use one clock. A message requests
 * the kind of its answer: `now <n>` immediately, `stream <n>` with timestamped tokens, `hold <n>` with a long text that
 * never ends.
 */
process.once('message', (order: ChatOrder) => void run(order));

/** Callbacks by message, called with the time at which the provider gets the request. */
const onRequest = new Map<string, (at: number) => void>();

async function run(order: ChatOrder): Promise<void> {
  const provider = createServer((incoming, response) => void answer(order, incoming, response));
  await once(provider.listen(0, '127.0.0.1'), 'listening');
  const base_url = `http://127.0.0.1:${(provider.address() as AddressInfo).port}/v1`;
  await post(order, '/v1/llm-provider-keys', { provider: 'openai_compatible', base_url, models: ['bench'] });
  const toRequest: number[] = [];
  for (let n = 0; n < order.messages; n += 1) toRequest.push(await measureRequest(order, `now ${n}`));
  const cpuBefore = ownCpuSeconds();
  const began = monotonicMs();
  const perToken = (await Promise.all(Array.from({ length: order.streams }, (_, n) => measureTokens(order, n)))).flat();
  const seconds = (monotonicMs() - began) / 1000;
  const cpuSeconds = ownCpuSeconds() - cpuBefore;
  const reconnect = await measureReconnects(order);
  provider.closeAllConnections();
  provider.close();
  const ascending = (list: number[]) => list.sort((a, b) => a - b);
  const durations = { toRequest: ascending(toRequest), perToken: ascending(perToken), reconnect: ascending(reconnect) };
  await tellParent({ ...durations, cpuSeconds, seconds } satisfies ChatReport);
  process.disconnect();
}

async function answer(order: ChatOrder, incoming: IncomingMessage, response: ServerResponse): Promise<void> {
  const at = monotonicMs();
  const { messages } = JSON.parse(await textOf(incoming)) as { messages: { content: string }[] };
  const text = messages.at(-1)?.content ?? '';
  onRequest.get(text)?.(at);
  onRequest.delete(text);
  response.writeHead(200, { 'Content-Type': 'text/event-stream' });
  const token = (content: string, finish_reason: string | null = null) => {
    const chunk = {
      id: 'c',
      object: 'chat.completion.chunk',
      created: 0,
      model: 'bench',
      choices: [{ index: 0, delta: { content }, finish_reason }],
    };
    response.write(`data: ${JSON.stringify(chunk)}\n\n`);
  };
  if (text.startsWith('now')) token('Yes.');
  if (text.startsWith('stream'))
    for (let n = 0; n < order.tokensPerStream; n += 1) {
      token(`${monotonicMs().toFixed(3)} `);
      await delay(order.pauseMs);
    }
  if (text.startsWith('hold')) {
    for (let sent = 0; sent < order.answerChars; sent += 100) token('x'.repeat(100));
    return;
  }
  token('', 'stop');
  response.end('data: [DONE]\n\n');
}

/** Sends a message in a new thread. Returns the time in ms until the provider gets the request. */
async function measureRequest(order: ChatOrder, text: string): Promise<number> {
  const { id } = await post(order, '/v1/chat/threads', { model: 'openai_compatible/bench' });
  const requested = new Promise<number>(resolve => onRequest.set(text, resolve));
  const began = monotonicMs();
  await post(order, `/v1/chat/threads/${id}/messages`, { text });
  return (await requested) - began;
}

/**
 * Streams one answer. Returns the age of each token at its arrival in ms, without the first tokens, which may wait for
 * other streams to begin.
 */
async function measureTokens(order: ChatOrder, n: number): Promise<number[]> {
  const { id } = await post(order, '/v1/chat/threads', { model: 'openai_compatible/bench' });
  const found: number[] = [];
  const response = await send(order, 'POST', `/v1/chat/threads/${id}/stream`, { text: `stream ${n}` });
  for await (const delta of deltasOf(response)) {
    const at = monotonicMs();
    for (const stamp of delta.trim().split(' ')) found.push(at - Number(stamp));
  }
  return found.slice(Math.min(10, found.length / 2));
}

async function measureReconnects(order: ChatOrder): Promise<number[]> {
  const { id } = await post(order, '/v1/chat/threads', { model: 'openai_compatible/bench' });
  const text = 'hold';
  const requested = new Promise<number>(resolve => onRequest.set(text, resolve));
  await post(order, `/v1/chat/threads/${id}/messages`, { text });
  await requested;
  const found: number[] = [];
  // The first connection waits until the whole text has been written.
  for (let n = 0; n <= order.reconnects; n += 1) {
    const began = monotonicMs();
    const client = get(`${order.url}/v1/chat/threads/${id}/stream`, { headers: headersOf(order) });
    const [response] = (await once(client, 'response')) as [IncomingMessage];
    let length = 0;
    for await (const delta of deltasOf(response)) {
      length += delta.length;
      if (length >= order.answerChars) break;
    }
    if (n > 0) found.push(monotonicMs() - began);
    client.destroy();
  }
  await post(order, `/v1/chat/threads/${id}/stop`, {});
  return found;
}

/** Yields the pieces of text of a stream. */
async function* deltasOf(response: IncomingMessage): AsyncGenerator<string, void> {
  let text = '';
  response.setEncoding('utf8');
  for await (const part of response) {
    text += part;
    const events = text.split('\n\n');
    text = events.pop() ?? '';
    for (const event of events) {
      const data = event.split('\n').find(line => line.startsWith('data: '));
      const chunk = data === undefined ? {} : (JSON.parse(data.slice(6)) as { type?: string; delta?: string });
      if (chunk.type === 'text-delta' && chunk.delta !== undefined) yield chunk.delta;
    }
  }
}

const headersOf = ({ token }: ChatOrder) => ({ authorization: `Bearer ${token}`, 'content-type': 'application/json' });

async function send(order: ChatOrder, method: string, path: string, body: object): Promise<IncomingMessage> {
  const outgoing = request(`${order.url}${path}`, { method, headers: headersOf(order) });
  outgoing.end(JSON.stringify(body));
  const [response] = (await once(outgoing, 'response')) as [IncomingMessage];
  if ((response.statusCode ?? 0) < 300) return response;
  throw new Error(`${path}: ${response.statusCode} ${await textOf(response)}`);
}

async function post(order: ChatOrder, path: string, body: object): Promise<{ id: string }> {
  return JSON.parse(await textOf(await send(order, 'POST', path, body))) as { id: string };
}

async function textOf(message: IncomingMessage): Promise<string> {
  let text = '';
  for await (const part of message.setEncoding('utf8')) text += part;
  return text;
}
