import type { Pool } from 'pg';
import type { Scope } from '../../orchestrator/ports/authority.ts';

/** The principal of a token, as read from the database at `readAt`. */
export type PatGrant = {
  patId: string;
  tenantId: string;
  projectId: string;
  projectName: string;
  userId: string;
  email: string;
  name: string;
  tenantAdmin: boolean;
  projectRole: string | null;
  scopes: readonly Scope[];
  expiresAt: number | null;
  lastUsedMinute: number | null;
};

/**
 * The maximum time until a revocation by another process takes effect here. A revocation by this process takes effect
 * immediately.
 */
export const GRANT_TTL_MS = 2000;
const MAX_GRANTS = 10_000;

/**
 * Recently looked-up tokens, so that a busy client does not cause a query per request. Every change that may affect a
 * grant calls `clear`: such changes are rare, and clearing everything cannot miss one.
 */
export class PrincipalCache {
  readonly #grants = new Map<string, { grant: PatGrant; readAt: number }>();
  readonly #reading = new Map<string, Promise<PatGrant | null>>();
  #generation = 0;
  /** The pending writes of last_used_at, which no request awaits. */
  readonly pendingWrites = new Set<Promise<void>>();

  get(key: string, now: number): PatGrant | undefined {
    const entry = this.#grants.get(key);
    if (!entry) return undefined;
    const age = now - entry.readAt;
    if (age >= 0 && age < GRANT_TTL_MS) return entry.grant;
    this.#grants.delete(key);
    return undefined;
  }

  /**
   * Returns the result of `read`, which runs once for all callers that ask meanwhile: when the entry of a busy token
   * expires, every request in flight needs it, which would be 32 queries at once with 32 connections. No caller shares
   * a read that started before a `clear`.
   */
  share(key: string, read: () => Promise<PatGrant | null>): Promise<PatGrant | null> {
    const reading = this.#reading.get(key);
    if (reading) return reading;
    const begun = read().finally(() => {
      if (this.#reading.get(key) === begun) this.#reading.delete(key);
    });
    this.#reading.set(key, begun);
    return begun;
  }

  /** Call this before reading: `put` then ignores what was read before a `clear` that happened meanwhile. */
  generation(): number {
    return this.#generation;
  }

  put(key: string, grant: PatGrant, readAt: number, generation: number): void {
    if (generation !== this.#generation) return;
    if (this.#grants.size >= MAX_GRANTS) this.#grants.clear();
    this.#grants.set(key, { grant, readAt });
  }

  clear(): void {
    this.#generation += 1;
    this.#grants.clear();
    this.#reading.clear();
  }
}

// One cache per database pool, not one per module: two containers in a process (tests) share nothing.
const caches = new WeakMap<Pool, PrincipalCache>();

/** Returns the cache of the database that these services use. */
export function principalCache(services: { pool: Pool }): PrincipalCache {
  const present = caches.get(services.pool);
  if (present) return present;
  const created = new PrincipalCache();
  caches.set(services.pool, created);
  return created;
}
