import type { Principal } from '../operation/context.ts';

/** The maximum numbers of open streams per person and per workspace, however many tokens they use. */
export type StreamLimits = { perUser: number; perTenant: number };

/** The part of a connection that is needed to count its stream. */
export type Connection = {
  readonly destroyed: boolean;
  once(event: 'close', listener: () => void): unknown;
};

/** Counts open streams. A stream counts from its admission until its connection closes. */
export class StreamCounts {
  readonly #counts = new Map<string, number>();
  readonly #limits: StreamLimits;

  constructor(limits: StreamLimits) {
    this.#limits = limits;
  }

  /** Counts a stream on `connection`. Returns null, or the limit that it would exceed, and then counts nothing. */
  take({ userId, tenantId }: Principal, connection: Connection): { limit: number; of: 'user' | 'workspace' } | null {
    const user = `user:${userId}`;
    const tenant = `tenant:${tenantId}`;
    const { perUser, perTenant } = this.#limits;
    if (this.#count(user) >= perUser) return { limit: perUser, of: 'user' };
    if (this.#count(tenant) >= perTenant) return { limit: perTenant, of: 'workspace' };
    // Its `close` event has already fired, so the count would never be reduced.
    if (connection.destroyed) return null;
    for (const key of [user, tenant]) this.#counts.set(key, this.#count(key) + 1);
    connection.once('close', () => {
      for (const key of [user, tenant]) {
        const remaining = this.#count(key) - 1;
        if (remaining > 0) this.#counts.set(key, remaining);
        else this.#counts.delete(key);
      }
    });
    return null;
  }

  #count(key: string): number {
    return this.#counts.get(key) ?? 0;
  }
}

/** The maximum number of concurrent admissions: enough to keep the pool of database connections busy. */
const MAX_CONCURRENT = 16;

/**
 * Runs bursts of work a few pieces at a time, and begins each piece in a separate turn of the event loop, so that requests,
 * timers and events of runs can be handled in between.
 */
export class Slices {
  readonly #waiting: (() => Promise<void>)[] = [];
  #running = 0;

  /** Runs `work` in its turn. It must not reject. */
  add(work: () => Promise<void>): void {
    this.#waiting.push(work);
    if (this.#running < MAX_CONCURRENT) {
      this.#running += 1;
      setImmediate(() => this.#next());
    }
  }

  #next(): void {
    const work = this.#waiting.shift();
    if (work === undefined) {
      this.#running -= 1;
      return;
    }
    void work().finally(() => setImmediate(() => this.#next()));
  }
}
