import type { LiveRun } from '../../executors/embedded/live-run.ts';
import type { Surroundings } from '../surroundings.ts';

type Limits = { maxInFlight: number; maxInFlightPerTenant: number };

/**
 * Counts slots beside the runtime, by what it asks for, gets and gives back (engine.md, guarantee 7):
 * - never more in use than a tenant, or all together, may have; none is given back twice;
 * - while a tenant that is below its limit waits, each other tenant is served at most once before it (`fairness`); and
 *   so among the runs of one tenant.
 */
export class SlotWatch {
  readonly #at: Surroundings;
  readonly #limits: Limits;
  readonly #inUse = new Map<string, number>();
  #total = 0;
  /** Runs that asked for a slot and still want one. */
  readonly #claiming = new Set<LiveRun>();
  readonly #watched = new WeakSet<LiveRun>();
  /** For each tenant that waits: who was served since it began to wait. */
  readonly #passedBy = new Map<string, Set<string>>();
  readonly #runsPassedBy = new Map<LiveRun, Set<LiveRun>>();

  constructor(at: Surroundings, limits: Limits) {
    this.#at = at;
    this.#limits = limits;
  }

  get total(): number {
    return this.#total;
  }

  claims(run: LiveRun): void {
    this.#claiming.add(run);
    if (this.#watched.has(run)) return;
    this.#watched.add(run);
    const grant = run.grant.bind(run);
    run.grant = () => {
      this.#granted(run);
      grant();
    };
  }

  released(tenantId: string): void {
    const left = (this.#inUse.get(tenantId) ?? 0) - 1;
    if (left < 0) this.#at.fail('slots', `a slot of ${tenantId} was given back twice`);
    this.#inUse.set(tenantId, left);
    this.#total -= 1;
  }

  /** Runs that wait for a slot while one is free for them. */
  get neglected(): LiveRun[] {
    if (this.#total >= this.#limits.maxInFlight) return [];
    return [...this.#claiming].filter(run => run.wants() && !this.#atLimit(run.tenantId));
  }

  /** Whether the run waits for a slot. */
  queues(runId: string): boolean {
    return [...this.#claiming].some(run => run.identity.runId === runId && run.wants());
  }

  #granted(run: LiveRun): void {
    const { tenantId } = run;
    this.#checkFairness(run);
    const inUse = (this.#inUse.get(tenantId) ?? 0) + 1;
    this.#inUse.set(tenantId, inUse);
    this.#total += 1;
    const { maxInFlight, maxInFlightPerTenant } = this.#limits;
    if (inUse > maxInFlightPerTenant)
      this.#at.fail('slots', `${tenantId} has ${inUse} of ${maxInFlightPerTenant} slots`);
    if (this.#total > maxInFlight) this.#at.fail('slots', `${this.#total} of ${maxInFlight} slots are in use`);
    if (inUse === maxInFlightPerTenant) this.#at.count('slot limit of a tenant reached');
    if (this.#total === maxInFlight) this.#at.count('slot limit of all reached');
  }

  #atLimit(tenantId: string): boolean {
    return (this.#inUse.get(tenantId) ?? 0) >= this.#limits.maxInFlightPerTenant;
  }

  /** `served` gets a slot now: nobody of equal claim may have waited through an earlier turn of the same. */
  #checkFairness(served: LiveRun): void {
    const waiting = new Map<string, LiveRun[]>();
    for (const run of this.#claiming) {
      if (!run.wants()) this.#forget(run);
      else if (!this.#atLimit(run.tenantId)) waiting.set(run.tenantId, [...(waiting.get(run.tenantId) ?? []), run]);
    }
    for (const tenant of this.#passedBy.keys()) if (!waiting.has(tenant)) this.#passedBy.delete(tenant);
    this.#passedBy.delete(served.tenantId);
    this.#runsPassedBy.delete(served);
    for (const tenant of waiting.keys()) {
      if (tenant === served.tenantId) continue;
      this.#at.count('tenant waits for its turn');
      if (!pass(this.#passedBy, tenant, served.tenantId))
        this.#at.fail('fairness', `${served.tenantId} is served twice while ${tenant} waits`);
    }
    for (const run of waiting.get(served.tenantId) ?? []) {
      if (run !== served && !pass(this.#runsPassedBy, run, served))
        this.#at.fail('fairness', `${served.identity.runId} is served twice while ${run.identity.runId} waits`);
    }
  }

  #forget(run: LiveRun): void {
    this.#claiming.delete(run);
    this.#runsPassedBy.delete(run);
  }
}

/** Notes that `served` came before `waiting`; false where it had done so already. */
function pass<T>(passedBy: Map<T, Set<T>>, waiting: T, served: T): boolean {
  const before = passedBy.get(waiting) ?? new Set();
  passedBy.set(waiting, before);
  if (before.has(served)) return false;
  before.add(served);
  return true;
}
