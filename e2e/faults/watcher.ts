import { setTimeout as delay } from 'node:timers/promises';
import { WebSocket } from 'ws';
import type { Client } from './client.ts';

export type SeenEvent = { seq: number; event_type: string; data: Record<string, unknown> };
type Frame = { type: 'event'; event: SeenEvent } | { type: 'ready' } | { type: 'error'; error: string };

const ENDS = new Set(['completed', 'failed', 'stopped']);
const isEnd = ({ event_type, data }: SeenEvent) => event_type === 'state_changed' && ENDS.has(String(data.to));

/**
 * Follows one run over the WebSocket and reconnects with `after` whenever the connection ends, until the run has ended.
 */
export class Watcher {
  readonly runId: string;
  /** The events in the order of arrival, over all connections. */
  readonly seen: SeenEvent[] = [];
  connections = 0;
  readonly #client: Client;
  readonly #path: string;
  readonly #done: Promise<void>;
  #closed = false;

  constructor(client: Client, workflowId: string, runId: string) {
    this.#client = client;
    this.runId = runId;
    this.#path = `/v1/workflows/${workflowId}/stream?run_id=${runId}`;
    this.#done = this.#follow();
  }

  /** Whether the watcher has yet to see the end of its run. */
  get isFollowing(): boolean {
    const last = this.seen.at(-1);
    return last === undefined || !isEnd(last);
  }

  /** Settles when the watcher has seen the end of its run, or `withinMs` have passed. */
  async ended(withinMs: number): Promise<void> {
    await Promise.race([this.#done, delay(withinMs, undefined, { ref: false })]);
    this.close();
  }

  /** Stops reconnecting after the present connection ends. */
  close(): void {
    this.#closed = true;
  }

  async #follow(): Promise<void> {
    for (let tries = 1; !this.#closed; tries++) {
      const before = this.connections;
      await this.#connect();
      if (!this.isFollowing) return;
      if (this.connections > before) tries = 1;
      await delay(50 * Math.min(tries, 5));
    }
  }

  /** Connects once; settles when the connection ends. */
  #connect(): Promise<void> {
    const after = this.seen.at(-1)?.seq ?? 0;
    const socket = new WebSocket(`${this.#client.url.replace('http', 'ws')}${this.#path}&after=${after}`, {
      headers: { Authorization: this.#client.authorization },
      handshakeTimeout: 3_000,
    });
    return new Promise(resolve => {
      socket.on('open', () => {
        this.connections += 1;
      });
      socket.on('message', text => {
        const frame = JSON.parse(String(text)) as Frame;
        if (frame.type !== 'event') return;
        this.seen.push(frame.event);
        if (isEnd(frame.event)) socket.close();
      });
      socket.on('error', () => undefined);
      // A suspended process sends nothing, and does not close its connections either.
      const idle = setTimeout(() => socket.terminate(), 20_000);
      socket.on('close', () => {
        clearTimeout(idle);
        resolve();
      });
    });
  }
}
