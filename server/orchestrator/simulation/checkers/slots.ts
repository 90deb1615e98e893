import type { LiveRun } from '../../runtime/runs/live-run.ts';
import { guaranteedSlots, type SlotKind, type SlotLimits } from '../../runtime/runs/slots.ts';
import type { Surroundings } from '../surroundings.ts';

/** The maximum time that a tenant may wait for a slot that it is guaranteed, in ms: a frozen process grants none. */
const GUARANTEE_WITHIN_MS = 5_000;

/**
 * Counts slots independently of the runtime, from what it requests, is granted and releases
 * (docs/adr/0011-shares-of-slots.md):
 * - a tenant is granted a slot only while it holds fewer than are free and fewer than its limit, or fewer than it is
 *   guaranteed; calls likewise; none is released twice (`slots`);
 * - while a tenant waits that could have a slot and holds no more than another, that other one is served at most once
 *   before it; the same holds among the runs of one tenant (`fairness`);
 * - a tenant that holds fewer slots than it is guaranteed does not wait, however many others hold (`fairness`).
 */
export class SlotWatch {
  readonly #at: Surroundings;
  readonly #limits: SlotLimits;
  readonly #guaranteed: number;
  readonly #inUse = new Map<string, number>();
  readonly #calls = new Map<string, number>();
  #total = 0;
  #totalCalls = 0;
  /** Runs that requested a slot and still want one. */
  readonly #claiming = new Set<LiveRun>();
  readonly #watched = new WeakSet<LiveRun>();
  /** For each waiting tenant, the tenants that were served since it began to wait. */
  readonly #passedBy = new Map<string, Set<string>>();
  readonly #runsPassedBy = new Map<LiveRun, Set<LiveRun>>();
  /** The time since when a tenant waits for a slot that it is guaranteed. */
  readonly #deniedSince = new Map<string, number>();

  constructor(at: Surroundings, limits: SlotLimits) {
    this.#at = at;
    this.#limits = limits;
    this.#guaranteed = guaranteedSlots(limits);
  }

  /** Attempts in flight, calls included. */
  get total(): number {
    return this.#total + this.#totalCalls;
  }

  claims(run: LiveRun): void {
    // A run that is loaded again after a failed commit gets a new place. Its tenant did not wait in between.
    if (!this.#isWaiting(run.tenantId)) this.#passedBy.delete(run.tenantId);
    this.#claiming.add(run);
    if (this.#watched.has(run)) return;
    this.#watched.add(run);
    const grant = run.grant.bind(run);
    run.grant = () => {
      this.#granted(run);
      grant();
    };
  }

  #isWaiting(tenantId: string): boolean {
    return [...this.#claiming].some(run => run.tenantId === tenantId && run.wants());
  }

  released(tenantId: string, kind: SlotKind): void {
    const counts = kind === 'call' ? this.#calls : this.#inUse;
    const left = count(counts, tenantId) - 1;
    if (left < 0) this.#at.fail('slots', `a ${kind} slot of ${tenantId} was given back twice`);
    counts.set(tenantId, left);
    if (kind === 'call') this.#totalCalls -= 1;
    else this.#total -= 1;
  }

  /** Checks the runtime's decision whether to count an attempt as a call. */
  moved(tenantId: string, moved: boolean): void {
    const calls = count(this.#calls, tenantId);
    const free = this.#limits.maxCallsInFlight - this.#totalCalls;
    if (moved !== (calls < free || calls < this.#guaranteed))
      this.#at.fail('slots', `${tenantId} has ${calls} calls, ${free} are free, and it is ${moved ? '' : 'not '}moved`);
    if (!moved) {
      this.#at.count('call kept its slot');
      return;
    }
    this.#calls.set(tenantId, calls + 1);
    this.#totalCalls += 1;
    this.#inUse.set(tenantId, count(this.#inUse, tenantId) - 1);
    this.#total -= 1;
  }

  /** Runs that wait for a slot while one is free for them. */
  get neglected(): LiveRun[] {
    return [...this.#claiming].filter(run => run.wants() && this.#mayTake(run.tenantId));
  }

  /** Whether the run waits for a slot. */
  queues(runId: string): boolean {
    return [...this.#claiming].some(run => run.identity.runId === runId && run.wants());
  }

  /** Checks that no tenant waits for a slot that it is guaranteed. `isHeldUp`: nothing can be decided at the moment. */
  checkGuarantees(isHeldUp: () => boolean): void {
    const denied = new Set<string>();
    for (const run of this.#claiming)
      if (run.wants() && count(this.#inUse, run.tenantId) < this.#guaranteed) denied.add(run.tenantId);
    if (denied.size > 0 && isHeldUp()) denied.clear();
    for (const tenant of this.#deniedSince.keys()) if (!denied.has(tenant)) this.#deniedSince.delete(tenant);
    const { now } = this.#at.agenda;
    for (const tenant of denied) {
      const since = this.#deniedSince.get(tenant) ?? now;
      this.#deniedSince.set(tenant, since);
      if (now - since > GUARANTEE_WITHIN_MS)
        this.#at.fail('fairness', `${tenant} has waited ${now - since} ms for a slot that it is guaranteed`);
    }
  }

  #granted(run: LiveRun): void {
    const { tenantId } = run;
    const inUse = count(this.#inUse, tenantId);
    const { maxInFlight, maxInFlightPerTenant } = this.#limits;
    if (inUse >= maxInFlightPerTenant)
      this.#at.fail('slots', `${tenantId} has ${inUse + 1} of ${maxInFlightPerTenant} slots`);
    else if (!this.#mayTake(tenantId))
      this.#at.fail('slots', `${tenantId} gets a slot beside ${inUse}; ${this.#total} of ${maxInFlight} are in use`);
    this.#checkFairness(run);
    this.#inUse.set(tenantId, inUse + 1);
    this.#total += 1;
    if (inUse + 1 === maxInFlightPerTenant) this.#at.count('slot limit of a tenant reached');
    if (this.#total >= maxInFlight) this.#at.count('slot limit of all reached');
    if (this.#total > maxInFlight) this.#at.count('slot guaranteed beyond the limit of all');
  }

  #mayTake(tenantId: string): boolean {
    const inUse = count(this.#inUse, tenantId);
    if (inUse >= this.#limits.maxInFlightPerTenant) return false;
    return inUse < this.#guaranteed || inUse < this.#limits.maxInFlight - this.#total;
  }

  /**
   * Checks that no tenant with an equal claim has already waited through an earlier turn of
   * `served`, which gets a slot now.
   */
  #checkFairness(served: LiveRun): void {
    const waiting = new Map<string, LiveRun[]>();
    for (const run of this.#claiming) {
      if (!run.wants()) this.#forget(run);
      else if (this.#mayTake(run.tenantId)) waiting.set(run.tenantId, [...(waiting.get(run.tenantId) ?? []), run]);
    }
    for (const tenant of this.#passedBy.keys()) if (!waiting.has(tenant)) this.#passedBy.delete(tenant);
    this.#passedBy.delete(served.tenantId);
    this.#runsPassedBy.delete(served);
    for (const tenant of waiting.keys()) {
      if (tenant === served.tenantId) continue;
      if (count(this.#inUse, tenant) > count(this.#inUse, served.tenantId)) continue;
      this.#at.count('tenant waits for its turn');
      if (!recordPass(this.#passedBy, tenant, served.tenantId))
        this.#at.fail('fairness', `${served.tenantId} is served twice while ${tenant} waits`);
    }
    for (const run of waiting.get(served.tenantId) ?? []) {
      if (run !== served && !recordPass(this.#runsPassedBy, run, served))
        this.#at.fail('fairness', `${served.identity.runId} is served twice while ${run.identity.runId} waits`);
    }
  }

  /** Forgets who of these workspaces waits: while their shard is to move, they get no slots, and ask for them again. */
  forget(isOf: (tenantId: string) => boolean): void {
    for (const run of this.#claiming) if (isOf(run.tenantId)) this.#forget(run);
    for (const tenant of this.#passedBy.keys()) if (isOf(tenant)) this.#passedBy.delete(tenant);
  }

  #forget(run: LiveRun): void {
    this.#claiming.delete(run);
    this.#runsPassedBy.delete(run);
  }
}

const count = (counts: ReadonlyMap<string, number>, tenant: string): number => counts.get(tenant) ?? 0;

/** Notes that `served` came before `waiting`; returns false if it already had. */
function recordPass<T>(passedBy: Map<T, Set<T>>, waiting: T, served: T): boolean {
  const before = passedBy.get(waiting) ?? new Set();
  passedBy.set(waiting, before);
  if (before.has(served)) return false;
  before.add(served);
  return true;
}
