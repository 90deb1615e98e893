import { MAX_RESULT_BYTES } from '../../turn/outcome.ts';
import { ByteBudget } from './byte-budget.ts';

/**
 * Limits, for each tenant, the results that scripts may produce at a time and those that wait for their commit. Workers
 * are faster than a busy database: hundreds of scripts in flight would produce hundreds of megabytes. An answer from
 * elsewhere (a tool, a model) cannot be delayed, so its result is only counted.
 */
export class Landing {
  readonly #limit: number;
  readonly #tenants = new Map<string, ByteBudget>();

  constructor(limit: number) {
    this.#limit = limit;
  }

  get bytes(): number {
    let bytes = 0;
    for (const budget of this.#tenants.values()) bytes += budget.used;
    return bytes;
  }

  /** Scripts that wait for room. */
  get waiting(): number {
    let waiting = 0;
    for (const budget of this.#tenants.values()) waiting += budget.waiting;
    return waiting;
  }

  /** Makes room for the result of a script, if there is some. */
  tryReserve(tenantId: string): boolean {
    return this.#of(tenantId).tryTake(tenantId, MAX_RESULT_BYTES);
  }

  /** Settles when there is room. Rejects when `signal` aborts first. */
  reserve(tenantId: string, signal: AbortSignal): Promise<void> {
    return this.#of(tenantId).take(tenantId, MAX_RESULT_BYTES, signal);
  }

  /** Releases the room of a script that has ended. Its result is then counted by its size (`landed`). */
  release(tenantId: string): void {
    this.committed(tenantId, MAX_RESULT_BYTES);
  }

  /** A result waits for its commit. */
  landed(tenantId: string, bytes: number): void {
    this.#of(tenantId).add(tenantId, bytes);
  }

  /** The results no longer wait for their commit. */
  committed(tenantId: string, bytes: number): void {
    const budget = this.#of(tenantId);
    budget.give(tenantId, bytes);
    if (budget.used === 0) this.#tenants.delete(tenantId);
  }

  #of(tenantId: string): ByteBudget {
    let budget = this.#tenants.get(tenantId);
    if (budget === undefined) {
      budget = new ByteBudget(this.#limit, { isShared: false });
      this.#tenants.set(tenantId, budget);
    }
    return budget;
  }
}
