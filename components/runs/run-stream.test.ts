import { once } from 'node:events';
import type { AddressInfo } from 'node:net';
import { afterEach, describe, expect, it } from 'vitest';
import { type WebSocket as Peer, WebSocketServer } from 'ws';
import type { WireEvent } from '@/server/domains/runs/reading/run-state.ts';
import { RunStream, reconnectDelayMs, type StreamState } from './run-stream.ts';

const id = '01900000-0000-7000-8000-000000000001';
const event = (seq: number): WireEvent => ({
  seq,
  event_type: 'step_log',
  run_id: id,
  workflow_id: id,
  data: {},
  created_at: '2026-01-01T00:00:00.000Z',
});
const send = (peer: Peer, ...seqs: number[]) => {
  for (const seq of seqs) peer.send(JSON.stringify({ type: 'event', event: event(seq) }));
};

let close: (() => void) | null = null;
afterEach(() => close?.());

async function start(onPeer: (peer: Peer, after: number, connection: number) => void) {
  const server = new WebSocketServer({ port: 0, host: '127.0.0.1' });
  await once(server, 'listening');
  let connections = 0;
  server.on('connection', (peer, request) => {
    connections += 1;
    onPeer(peer, Number(new URL(request.url ?? '', 'http://x').searchParams.get('after')), connections);
  });
  const seen: number[] = [];
  const states: StreamState[] = [];
  const waiters: (() => void)[] = [];
  const changed = () => {
    for (const wake of waiters.splice(0)) wake();
  };
  const stream = new RunStream({
    url: `ws://127.0.0.1:${(server.address() as AddressInfo).port}/?run_id=${id}`,
    onEvents: events => {
      seen.push(...events.map(each => each.seq));
      changed();
    },
    onState: state => {
      states.push(state);
      changed();
    },
    backoffMs: () => 1,
  });
  close = () => {
    stream.close();
    server.close();
    for (const peer of server.clients) peer.terminate();
  };
  const until = async (true_: () => boolean) => {
    while (!true_()) await new Promise<void>(resolve => waiters.push(resolve));
  };
  return { seen, states, until, connections: () => connections };
}

describe('the live stream of a run', () => {
  it('resumes after the last received event and repeats no event', async () => {
    const afters: number[] = [];
    const run = await start((peer, after, connection) => {
      afters.push(after);
      if (connection === 1) {
        send(peer, 1, 2, 3);
        peer.send(JSON.stringify({ type: 'ready' }));
        peer.close(4008);
      } else {
        send(peer, 3, 4);
        peer.send(JSON.stringify({ type: 'ready' }));
      }
    });
    await run.until(() => run.seen.includes(4) && run.states.at(-1) === 'live');
    expect(run.seen).toEqual([1, 2, 3, 4]);
    expect(afters).toEqual([0, 3]);
    expect(run.states).toContain('reconnecting');
    expect(run.states.at(-1)).toBe('live');
  });

  it('stops reconnecting once access is lost', async () => {
    const run = await start(peer => peer.close(4003));
    await run.until(() => run.states.at(-1) === 'refused');
    expect(run.connections()).toBe(1);
  });

  it('reconnects immediately, then after increasing delays of at most 2 s', () => {
    expect([0, 1, 2, 3, 4, 5, 6, 1_000].map(attempt => reconnectDelayMs(attempt, 0))).toEqual([
      100, 200, 400, 800, 1_600, 2_000, 2_000, 2_000,
    ]);
    expect(reconnectDelayMs(0, 1)).toBe(50);
    expect(reconnectDelayMs(9, 1)).toBe(1_000);
  });
});
