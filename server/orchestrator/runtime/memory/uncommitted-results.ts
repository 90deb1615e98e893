import { MAX_RESULT_BYTES } from '../../turn/outcome.ts';
import { ByteBudget } from './byte-budget.ts';

/**
 * Limits the bytes of uncommitted results for each tenant, including the room reserved for scripts in flight. Workers are
 * faster than a busy database: without a limit, hundreds of scripts would produce hundreds of megabytes. Answers of tools
 * and models cannot be delayed, so their results are only counted.
 */
export class UncommittedResults {
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

  /** The number of scripts that wait for room. */
  get waiting(): number {
    let waiting = 0;
    for (const budget of this.#tenants.values()) waiting += budget.waiting;
    return waiting;
  }

  /** Reserves room for the result of a script. Returns false if there is too little. */
  tryReserve(tenantId: string): boolean {
    return this.#of(tenantId).tryTake(tenantId, MAX_RESULT_BYTES);
  }

  /** Waits for room and reserves it. Rejects if `signal` aborts first. */
  reserve(tenantId: string, signal: AbortSignal): Promise<void> {
    return this.#of(tenantId).take(tenantId, MAX_RESULT_BYTES, signal);
  }

  /** Releases the room of a script that has ended. Its result is then counted by its size (`add`). */
  release(tenantId: string): void {
    this.remove(tenantId, MAX_RESULT_BYTES);
  }

  /** Counts a result that waits for its commit. */
  add(tenantId: string, bytes: number): void {
    this.#of(tenantId).add(tenantId, bytes);
  }

  /** Releases the bytes of results that no longer wait for their commit. */
  remove(tenantId: string, bytes: number): void {
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
