import type { WireEvent } from '@/server/domains/runs/run-state.ts';
import { readJson } from '@/server/platform/json-text.ts';

export type StreamState = 'connecting' | 'live' | 'reconnecting' | 'closed' | 'refused';

type Frame = { type: 'event'; event: WireEvent } | { type: 'ready' } | { type: 'error'; error: string };

export type RunStreamOptions = {
  /** `ws://…/v1/workflows/{id}/stream?run_id=…`, without `after`. */
  url: string;
  /** Events in order, without gaps or repeats, many at once where many arrive together. */
  onEvents: (events: WireEvent[]) => void;
  onState: (state: StreamState) => void;
  /** How long to wait before the nth reconnect (from 0), in ms. Default: `reconnectDelayMs`. */
  backoffMs?: (attempt: number) => number;
};

/** Revoked or lost access (docs/specification/events.md#close-codes): trying again would not help. */
const ACCESS_LOST = 4003;

const HAND_OVER_INTERVAL_MS = 100;

const FIRST_DELAY_MS = 100;
/** A server that is back is noticed after this time at the latest; longer delays made people reload the page. */
const MAX_DELAY_MS = 2_000;

/**
 * Returns how long to wait before the nth reconnect (from 0), in ms: 100 ms doubled up to 2 s, of which `random` (0 to 1) takes up to
 * a half, so that the pages of many people do not come back at the same moment.
 */
export const reconnectDelayMs = (attempt: number, random = Math.random()): number =>
  Math.min(MAX_DELAY_MS, FIRST_DELAY_MS * 2 ** attempt) * (1 - random / 2);

/**
 * A live view of one run that misses nothing: it replays from the log first, and after a lost connection resumes behind
 * the last event it has seen. `close()` ends it for good.
 */
export class RunStream {
  readonly #options: RunStreamOptions;
  #socket: WebSocket | null = null;
  #timer: ReturnType<typeof setTimeout> | null = null;
  #lastSeq: number;
  #failures = 0;
  #closed = false;
  #batch: WireEvent[] = [];
  #flushQueued = false;
  #flushedAt = 0;

  constructor(options: RunStreamOptions, after = 0) {
    this.#options = options;
    this.#lastSeq = after;
    this.#connect();
  }

  close(): void {
    this.#closed = true;
    if (this.#timer !== null) clearTimeout(this.#timer);
    this.#socket?.close();
    this.#options.onState('closed');
  }

  #connect(): void {
    this.#timer = null;
    this.#options.onState(this.#failures === 0 ? 'connecting' : 'reconnecting');
    const url = new URL(this.#options.url);
    url.searchParams.set('after', String(this.#lastSeq));
    const socket = new WebSocket(url);
    this.#socket = socket;
    socket.onmessage = message => this.#receive(String(message.data));
    // `error` is always followed by `close`, so one handler reconnects.
    socket.onclose = event => {
      if (this.#closed || this.#socket !== socket) return;
      if (event.code === ACCESS_LOST) {
        this.#options.onState('refused');
        return;
      }
      const wait = (this.#options.backoffMs ?? reconnectDelayMs)(this.#failures);
      this.#failures += 1;
      this.#options.onState('reconnecting');
      this.#timer = setTimeout(() => this.#connect(), wait);
    };
  }

  #receive(text: string): void {
    const frame = readJson(text) as Frame;
    switch (frame.type) {
      case 'ready':
        this.#failures = 0;
        this.#flush();
        this.#options.onState('live');
        return;
      case 'event':
        if (frame.event.seq <= this.#lastSeq) return;
        this.#lastSeq = frame.event.seq;
        this.#batch.push(frame.event);
        this.#queueFlush();
        return;
      case 'error':
        return; // a close with its code follows and says what to do
    }
  }

  /**
   * Events are handed over together, not one by one: a replay of 10,000 is some renders, not 10,000. The first after a quiet
   * time goes at once; while they stream in, 100 ms apart, since drawing a graph of 1,000 steps may take as long.
   */
  #queueFlush(): void {
    if (this.#flushQueued) return;
    this.#flushQueued = true;
    setTimeout(() => this.#flush(), Math.max(0, this.#flushedAt + HAND_OVER_INTERVAL_MS - performance.now()));
  }

  #flush(): void {
    this.#flushQueued = false;
    if (this.#batch.length === 0 || this.#closed) return;
    const events = this.#batch;
    this.#batch = [];
    this.#flushedAt = performance.now();
    this.#options.onEvents(events);
  }
}
