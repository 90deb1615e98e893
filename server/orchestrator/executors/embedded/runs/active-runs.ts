import { AppError } from '../../../../platform/errors.ts';

/** How many runs of each tenant have not ended, and the bound of that. */
export class ActiveRuns {
  readonly #max: number;
  readonly #counts = new Map<string, number>();

  constructor(max: number) {
    this.#max = max;
  }

  /** Counts from the database, before any command is accepted. */
  set(counts: ReadonlyMap<string, number>): void {
    for (const [tenantId, count] of counts) this.#counts.set(tenantId, count);
  }

  /**
   * Counts one that starts. Runs that others wait for have as many places again: they could not all be refused without
   * refusing those who wait, and nobody waits for a place. Throws AppError 429.
   */
  reserve(tenantId: string, isAwaited: boolean): void {
    const active = this.#counts.get(tenantId) ?? 0;
    if (active >= (isAwaited ? 2 * this.#max : this.#max))
      throw new AppError(429, 'too_many_active_runs', `The workspace has ${active} active runs, which is its limit.`, {
        headers: { 'Retry-After': '5' },
      });
    this.#counts.set(tenantId, active + 1);
  }

  /** Counts one that has ended, or did not start after all. */
  release(tenantId: string): void {
    const active = (this.#counts.get(tenantId) ?? 0) - 1;
    if (active > 0) this.#counts.set(tenantId, active);
    else this.#counts.delete(tenantId);
  }
}
