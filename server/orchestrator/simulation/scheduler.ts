import { Violation } from './checkers/violation.ts';

export const TENANT_LIMIT = 3;
export const TOTAL_LIMIT = 4;

type Job = { run: string; step: string };

/** Grants slots to steps that may begin: round robin over tenants, with limits for each and for all. */
export class Scheduler {
  readonly #queues = new Map<string, Job[]>();
  readonly #taken = new Map<string, number>();
  #total = 0;

  add(tenant: string, job: Job): void {
    const queue = this.#queues.get(tenant);
    if (queue === undefined) this.#queues.set(tenant, [job]);
    else queue.push(job);
  }

  /** Takes a slot and the step it is for; undefined when there is none to give. */
  next(): { tenant: string; job: Job } | undefined {
    if (this.#total >= TOTAL_LIMIT) return undefined;
    for (const [tenant, queue] of this.#queues) {
      const taken = this.#taken.get(tenant) ?? 0;
      if (taken >= TENANT_LIMIT) continue;
      const job = queue.shift();
      // To the back: the next slot is another tenant's.
      this.#queues.delete(tenant);
      if (queue.length > 0) this.#queues.set(tenant, queue);
      if (job === undefined) continue;
      this.#taken.set(tenant, taken + 1);
      this.#total += 1;
      return { tenant, job };
    }
    return undefined;
  }

  release(tenant: string): void {
    const taken = this.#taken.get(tenant) ?? 0;
    if (taken === 0) throw new Violation('limits', `a slot of ${tenant} was given back twice`);
    this.#taken.set(tenant, taken - 1);
    this.#total -= 1;
  }
}
