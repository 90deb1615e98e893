import { afterAll, beforeAll, expect, test } from 'vitest';
import { scopes } from '../../../orchestrator/ports/authority.ts';
import { startTestContainer, type TestContainer } from '../../../testing/container.ts';
import { createTestPat, createTestTenant } from '../../../testing/identity.ts';

/** A real run, and a client that is disconnected again and again. */
let service: TestContainer;
let headers: Record<string, string>;

beforeAll(async () => {
  service = await startTestContainer();
  const tenant = await createTestTenant(service.container.services, { slug: 'acme' });
  const { token } = await createTestPat(service.container.services, tenant.owner, scopes);
  headers = { Authorization: `Bearer ${token}`, 'Content-Type': 'application/json' };
});
afterAll(() => service.close());

async function request<T>(method: string, path: string, body?: object): Promise<T> {
  const response = await fetch(service.url + path, {
    method,
    headers,
    body: body === undefined ? null : JSON.stringify(body),
  });
  const text = await response.text();
  expect(response.status, text).toBeLessThan(300);
  return JSON.parse(text) as T;
}

type Event = { seq: number; event_type: string };

/** Reads at most `most` events after `after`, then disconnects. By default reads until the server ends the stream. */
async function watch(path: string, after: number, most = Number.POSITIVE_INFINITY): Promise<Event[]> {
  const leaving = new AbortController();
  const response = await fetch(`${service.url}${path}/stream`, {
    headers: { ...headers, ...(after > 0 && { 'Last-Event-ID': String(after) }) },
    signal: leaving.signal,
  });
  const events: Event[] = [];
  let text = '';
  for await (const piece of response.body?.pipeThrough(new TextDecoderStream()) ?? []) {
    text += piece;
    const frames = text.split('\n\n');
    text = frames.pop() ?? '';
    events.push(...frames.flatMap(frame => /^data: (.*)$/m.exec(frame)?.[1] ?? []).map(json => JSON.parse(json)));
    if (events.length >= most) break;
  }
  leaving.abort();
  return events.slice(0, most);
}

test('a client that reconnects after each event receives every event once, live events included', async () => {
  const graph = {
    steps: [
      { id: 'first', type: 'lua_script', script: 'return {n = 1}' },
      { id: 'ask', type: 'human_task', instructions: 'Well?', depends_on: ['first'] },
      { id: 'last', type: 'lua_script', script: 'return {n = 2}', depends_on: ['ask'] },
    ],
  };
  const { id } = await request<{ id: string }>('POST', '/v1/workflows', { name: 'Watched', graph });
  await request('POST', `/v1/workflows/${id}/versions`, { changelog: 'first' });
  const { run_id } = await request<{ run_id: string }>('POST', `/v1/workflows/${id}/command`, { command: 'start' });
  const path = `/v1/workflows/${id}/runs/${run_id}`;
  const seen: Event[] = [];
  while (seen.at(-1)?.event_type !== 'task_pending') seen.push(...(await watch(path, seen.length, 1)));
  // The run continues only after an answer, so this client waits for events that do not exist yet.
  const rest = watch(path, seen.length);
  await request('POST', `${path}/tasks/ask/complete`, { approved: true });
  seen.push(...(await rest));
  const { events } = await request<{ events: Event[] }>('GET', `${path}/events?limit=1000`);
  expect(seen).toEqual(events);
  expect(events.at(-1)?.event_type).toBe('state_changed');
  const again = await fetch(`${service.url}${path}/stream?after=${seen.length}`, { headers });
  expect(again.status).toBe(204);
});
