/**
 * Waiting jobs, first in first out for each tenant and round robin across tenants, so that a thousand scripts of one
 * tenant do not delay the first of another (docs/specification/runs.md#fairness). A Map keeps the order of the round: a
 * tenant that was served moves to the end.
 */
export class TenantQueue<T> {
  readonly #round = new Map<string, T[]>();

  /** Adds a job after the other jobs of its tenant. */
  push(tenant: string, job: T): void {
    const waiting = this.#round.get(tenant);
    if (waiting) waiting.push(job);
    else this.#round.set(tenant, [job]);
  }

  /** Returns withdrawn jobs to the front of their tenant's queue. The tenant keeps its turn in the round. */
  unshift(tenant: string, jobs: readonly T[]): void {
    if (jobs.length === 0) return;
    const waiting = this.#round.get(tenant);
    if (waiting) waiting.unshift(...jobs);
    else this.#round.set(tenant, [...jobs]);
  }

  /** Returns the next tenant for which `mayRun` returns true. `mayRun` is called in the order of the round. */
  next(mayRun: (tenant: string) => boolean): string | undefined {
    for (const tenant of this.#round.keys()) if (mayRun(tenant)) return tenant;
    return undefined;
  }

  /**
   * Takes a share of a tenant's waiting jobs: one part in `parts`, at most `most`, at least one. Ends the tenant's
   * turn.
   */
  take(tenant: string, parts: number, most: number): T[] {
    const waiting = this.#round.get(tenant) ?? [];
    this.#round.delete(tenant);
    const taken = waiting.splice(0, Math.min(most, Math.ceil(waiting.length / parts)));
    if (waiting.length > 0) this.#round.set(tenant, waiting);
    return taken;
  }

  /** Removes one job, at any position in the queue. */
  remove(tenant: string, job: T): void {
    const waiting = this.#round.get(tenant);
    const at = waiting?.lastIndexOf(job) ?? -1;
    if (!waiting || at === -1) return;
    waiting.splice(at, 1);
    if (waiting.length === 0) this.#round.delete(tenant);
  }

  get isEmpty(): boolean {
    return this.#round.size === 0;
  }

  /** The number of waiting jobs. O(tenants with waiting jobs). */
  get size(): number {
    let size = 0;
    for (const waiting of this.#round.values()) size += waiting.length;
    return size;
  }

  /** Removes all jobs and returns them. */
  clear(): T[] {
    const all = [...this.#round.values()].flat();
    this.#round.clear();
    return all;
  }
}
