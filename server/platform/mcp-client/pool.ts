import type { Clock } from '../clock.ts';
import { McpFailure } from './failure.ts';
import type { McpSession } from './session.ts';

/** Initializing takes two round trips; a session that was unused for this long only costs the server memory. */
const IDLE_MS = 60_000;
const MAX_SESSIONS = 200;

/** After these failures a session can still be used: the server has answered, or Baton has cancelled the request. */
const HARMLESS = new Set([
  'mcp_cancelled',
  'mcp_invalid_params',
  'mcp_error',
  'mcp_internal_error',
  'mcp_elicitation_required',
  'mcp_rate_limited',
]);

type Entry = {
  readonly key: string;
  readonly session: Promise<McpSession>;
  /** The session once it is open. */
  opened: McpSession | undefined;
  users: number;
  usedAt: number;
  /** Whether new callers get another session. A retired session is closed after its last user. */
  retired: boolean;
};

type Connect = (signal: AbortSignal) => Promise<McpSession>;

/** Open sessions, kept for the next call with the same key. */
export class SessionPool {
  readonly #clock: Clock;
  readonly #idleMs: number;
  readonly #most: number;
  /** The sessions, least recently used first. */
  readonly #current = new Map<string, Entry>();
  readonly #open = new Set<Entry>();
  readonly #closing = new Set<Promise<void>>();
  readonly #lifetime = new AbortController();
  readonly #timer: NodeJS.Timeout;

  constructor(options: { clock: Clock; idleMs?: number; most?: number }) {
    this.#clock = options.clock;
    this.#idleMs = options.idleMs ?? IDLE_MS;
    this.#most = options.most ?? MAX_SESSIONS;
    this.#timer = setInterval(() => this.#retireIdle(), this.#idleMs).unref();
  }

  /** The number of sessions that are open or being opened. */
  get size(): number {
    return this.#open.size;
  }

  /**
   * Runs `work` on the session of `key`, which identifies server and credentials; `connect` opens it if there
   * is none, once for all waiting callers. If the server has ended a kept session, `work` runs again on a new
   * one. Rejects with McpFailure.
   */
  async run<T>(
    key: string,
    connect: Connect,
    work: (session: McpSession) => Promise<T>,
    signal?: AbortSignal,
  ): Promise<T> {
    for (let renewed = false; ; renewed = true) {
      if (this.#lifetime.signal.aborted) {
        throw new McpFailure('mcp_connection_lost', 'The service is being stopped', true, { unsent: true });
      }
      const kept = this.#current.has(key);
      const entry = this.#take(key, connect);
      try {
        return await this.#runOn(entry, work, signal);
      } catch (error) {
        const lost = error instanceof McpFailure && error.code === 'mcp_session_lost';
        if (!lost || !kept || renewed) throw error;
      }
    }
  }

  /** Closes sessions that were idle for a minute, and waits until they are closed. */
  async sweep(): Promise<void> {
    this.#retireIdle();
    await Promise.all(this.#closing);
  }

  /** Aborts calls in flight and closes every session. Later calls are refused. */
  async close(): Promise<void> {
    clearInterval(this.#timer);
    this.#lifetime.abort();
    const ending = [...this.#open].map(async entry => {
      await closeSession(entry);
      this.#retire(entry);
    });
    await Promise.all([...ending, ...this.#closing]);
  }

  #take(key: string, connect: Connect): Entry {
    const known = this.#current.get(key);
    if (known?.opened && !known.opened.usable) this.#retire(known);
    else if (known) {
      this.#current.delete(key);
      this.#current.set(key, known);
      known.users++;
      return known;
    }
    this.#makeRoom();
    const session = connect(this.#lifetime.signal);
    const entry: Entry = { key, session, opened: undefined, users: 1, usedAt: this.#clock.now(), retired: false };
    session.then(
      opened => {
        entry.opened = opened;
      },
      () => this.#retire(entry),
    );
    this.#current.set(key, entry);
    this.#open.add(entry);
    return entry;
  }

  #makeRoom(): void {
    this.#retireIdle();
    for (const entry of [...this.#current.values()]) {
      if (this.#open.size < this.#most) return;
      if (entry.users === 0) this.#retire(entry);
    }
    if (this.#open.size < this.#most) return;
    throw new McpFailure('mcp_busy', `${this.#most} sessions with MCP servers are in use`, true, { unsent: true });
  }

  async #runOn<T>(entry: Entry, work: (session: McpSession) => Promise<T>, signal?: AbortSignal): Promise<T> {
    try {
      const session = await abortable(entry.session, signal);
      try {
        return await work(session);
      } catch (error) {
        if (!(error instanceof McpFailure) || !HARMLESS.has(error.code)) this.#retire(entry);
        throw error;
      } finally {
        if (!session.usable) this.#retire(entry);
      }
    } finally {
      entry.users--;
      entry.usedAt = this.#clock.now();
      if (entry.retired) this.#retire(entry);
    }
  }

  #retireIdle(): void {
    const idleSince = this.#clock.now() - this.#idleMs;
    for (const entry of [...this.#current.values()]) {
      if (entry.users === 0 && entry.usedAt <= idleSince) this.#retire(entry);
    }
  }

  #retire(entry: Entry): void {
    entry.retired = true;
    if (this.#current.get(entry.key) === entry) this.#current.delete(entry.key);
    if (entry.users > 0 || !this.#open.delete(entry)) return;
    const closing = closeSession(entry);
    this.#closing.add(closing);
    void closing.then(() => this.#closing.delete(closing));
  }
}

async function closeSession(entry: Entry): Promise<void> {
  const session = await entry.session.catch(() => undefined);
  await session?.close();
}

/** Waits for `work` until `signal` aborts. The work continues, because other callers wait for the same connection. */
async function abortable<T>(work: Promise<T>, signal: AbortSignal | undefined): Promise<T> {
  if (!signal) return await work;
  const { promise, reject } = Promise.withResolvers<never>();
  const cancel = (): void => reject(new McpFailure('mcp_cancelled', 'The call was cancelled', false, { unsent: true }));
  signal.addEventListener('abort', cancel, { once: true });
  if (signal.aborted) cancel();
  try {
    return await Promise.race([work, promise]);
  } finally {
    signal.removeEventListener('abort', cancel);
  }
}
