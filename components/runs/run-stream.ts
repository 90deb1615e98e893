import type { WireEvent } from '@/server/domains/runs/reading/run-state.ts';
import { readJson } from '@/server/platform/json-text.ts';

export type StreamState = 'connecting' | 'live' | 'reconnecting' | 'closed' | 'refused';

type Frame = { type: 'event'; event: WireEvent } | { type: 'ready' } | { type: 'error'; error: string };

export type RunStreamOptions = {
  /** `ws://…/v1/workflows/{id}/stream?run_id=…`, without `after`. */
  url: string;
  /** Receives events in order, without gaps or repeats. Events that arrive together are passed together. */
  onEvents: (events: WireEvent[]) => void;
  onState: (state: StreamState) => void;
  /** How long to wait before the nth reconnect (from 0), in ms. Default: `reconnectDelayMs`. */
  backoffMs?: (attempt: number) => number;
};

/** Close codes for revoked or lost access (docs/specification/events.md#close-codes). A reconnect would not help. */
const ACCESS_LOST = 4003;

const HAND_OVER_INTERVAL_MS = 100;

const FIRST_DELAY_MS = 100;
/** The maximum delay between reconnects. With longer delays, people reloaded the page. */
const MAX_DELAY_MS = 2_000;

/**
 * Returns how long to wait before the nth reconnect (from 0), in ms: 100 ms, doubled each time up to 2 s. `random` (0 to 1) shortens
 * the delay by up to a half, so that many pages do not reconnect at the same moment.
 */
export const reconnectDelayMs = (attempt: number, random = Math.random()): number =>
  Math.min(MAX_DELAY_MS, FIRST_DELAY_MS * 2 ** attempt) * (1 - random / 2);

/**
 * Streams all events of a run: first the log, then live events. After a lost connection, the stream resumes after the last received
 * event. `close()` ends the stream permanently.
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
        return; // a close event with a code follows
    }
  }

  /**
   * Passes events on in batches, so that a replay of 10,000 events causes few renders. The first event after a pause is passed on at
   * once. Further batches are 100 ms apart, because drawing a graph of 1,000 steps may take as long.
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
