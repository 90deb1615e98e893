import { AppError } from '../../../platform/errors.ts';

/** Counts the runs of each tenant that have not ended, and limits them. */
export class ActiveRuns {
  readonly #max: number;
  readonly #counts = new Map<string, number>();

  constructor(max: number) {
    this.#max = max;
  }

  /** Forgets the counts of these workspaces. */
  forget(isOf: (tenantId: string) => boolean): void {
    for (const tenantId of this.#counts.keys()) if (isOf(tenantId)) this.#counts.delete(tenantId);
  }

  /** Sets the counts from the database, before any command of these workspaces is accepted. */
  set(counts: ReadonlyMap<string, number>): void {
    for (const [tenantId, count] of counts) this.#counts.set(tenantId, count);
  }

  /**
   * Counts a run that starts; throws AppError 429 at the limit. Runs that others wait for have a second limit of the
   * same size: a refused one would fail the run that waits for it, because no run waits until there is room.
   */
  reserve(tenantId: string, isAwaited: boolean): void {
    const active = this.#counts.get(tenantId) ?? 0;
    if (active >= (isAwaited ? 2 * this.#max : this.#max))
      throw new AppError(429, 'too_many_active_runs', `The workspace has ${active} active runs, which is its limit.`, {
        headers: { 'Retry-After': '5' },
      });
    this.#counts.set(tenantId, active + 1);
  }

  /** Uncounts a run that has ended, or that did not start after all. */
  release(tenantId: string): void {
    const active = (this.#counts.get(tenantId) ?? 0) - 1;
    if (active > 0) this.#counts.set(tenantId, active);
    else this.#counts.delete(tenantId);
  }
}
