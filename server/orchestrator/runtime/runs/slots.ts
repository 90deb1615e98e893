import { Fifo } from '../../../platform/fifo.ts';

/** A run that has steps to start. */
export type Claimant = {
  readonly tenantId: string;
  /** Whether it would start another step now, beyond the slots that it was already granted. */
  wants(): boolean;
  /** Takes one slot, which `release` returns. */
  grant(): void;
};

export type SlotLimits = {
  readonly maxInFlight: number;
  readonly maxInFlightPerTenant: number;
  /** Attempts that only wait for an answer from elsewhere, which have their own limit. */
  readonly maxCallsInFlight: number;
};

/** The limit against which an attempt in flight counts. */
export type SlotKind = 'step' | 'call';

type Tenant = {
  steps: number;
  calls: number;
  /** The tenant's place in `#round`. */
  queued: boolean;
  /** Its position in `#parked`; -1 if it is not parked. */
  parkedAt: number;
  readonly waiting: Fifo<Claimant>;
};

/**
 * Slots that a tenant gets in any case, beyond the total if necessary: one in 64 of its limit. A process that serves T
 * tenants never has more than the total and T of these shares in flight.
 */
export const guaranteedSlots = (limits: SlotLimits): number =>
  Math.max(1, Math.floor(Math.min(limits.maxInFlight, limits.maxInFlightPerTenant) / 64));

/**
 * Grants in-flight slots, limited in total and per tenant, round robin across tenants and, within a tenant, across its
 * runs. A slot is one attempt in flight, which may hold it for a day, so slots are not only granted fairly but kept in
 * reserve: a tenant gets another slot only while it holds fewer than are free (dynamic thresholds: Choudhury and Hahne,
 * "Dynamic queue length thresholds for shared-memory packet switches", 1998). One tenant fills half of the total at most,
 * n tenants n/(n+1), and the next one always finds some free. See docs/adr/0011-shares-of-slots.md.
 *
 * An attempt that only waits for an answer from elsewhere (`StepType.resource` is `io`) moves to the call slots when it
 * starts, where the same rule holds; where it finds no room there it keeps its slot. Every operation is O(1), amortized.
 */
export class Slots {
  readonly #limits: SlotLimits;
  readonly #guaranteed: number;
  #steps = 0;
  #calls = 0;
  readonly #tenants = new Map<string, Tenant>();
  /** Waiting tenants that have not had their turn in this round, next first. */
  #round = new Fifo<Tenant>();
  /** Waiting tenants that had their turn in this round. */
  #served = new Fifo<Tenant>();
  /** Waiting tenants that held at least as many slots as were free when it was their turn, by how many they hold. */
  readonly #parked = new Map<number, Set<Tenant>>();
  /** No tenant that holds fewer slots than this is parked. */
  #parkedFrom = 0;
  readonly #queued = new Set<Claimant>();

  constructor(limits: SlotLimits) {
    this.#limits = limits;
    this.#guaranteed = guaranteedSlots(limits);
  }

  /** Attempts in flight, calls included. */
  get inUse(): number {
    return this.#steps + this.#calls;
  }

  /** Whether a tenant may be waiting for a slot that it could get now. */
  get waiting(): boolean {
    return this.#round.size > 0 || (this.#parked.size > 0 && this.#parkedFrom < this.#free);
  }

  /** The attempts in flight of each tenant that has any. */
  inUseByTenant(): Map<string, number> {
    const inUse = new Map<string, number>();
    for (const [id, { steps, calls }] of this.#tenants) if (steps + calls > 0) inUse.set(id, steps + calls);
    return inUse;
  }

  /** Queues a run that wants a slot; nothing happens if it is queued already. */
  offer(claimant: Claimant): void {
    if (this.#queued.has(claimant)) return;
    this.#queued.add(claimant);
    const tenant = this.#tenant(claimant.tenantId);
    tenant.waiting.push(claimant);
    this.#enter(tenant);
  }

  release(tenantId: string, kind: SlotKind): void {
    const tenant = this.#tenant(tenantId);
    if (kind === 'call') {
      tenant.calls -= 1;
      this.#calls -= 1;
    } else this.#releaseStep(tenant);
    const isIdle = tenant.steps === 0 && tenant.calls === 0;
    if (isIdle && !tenant.queued && tenant.waiting.size === 0) this.#tenants.delete(tenantId);
  }

  /** Counts an attempt of the tenant as a call from now on; returns false if it must keep its slot. */
  moveToCalls(tenantId: string): boolean {
    const tenant = this.#tenant(tenantId);
    if (tenant.calls >= this.#guaranteed && tenant.calls >= this.#limits.maxCallsInFlight - this.#calls) return false;
    tenant.calls += 1;
    this.#calls += 1;
    this.#releaseStep(tenant);
    return true;
  }

  /** Grants free slots. */
  pump(): void {
    let isTurnLeft = false;
    for (let tenant = this.#next(false); tenant !== undefined; tenant = this.#next(isTurnLeft)) {
      isTurnLeft = false;
      if (!this.#mayTake(tenant)) {
        this.#park(tenant);
        continue;
      }
      const claimant = this.#nextOf(tenant);
      isTurnLeft = claimant === undefined;
      if (claimant === undefined) continue;
      tenant.steps += 1;
      this.#steps += 1;
      claimant.grant();
      if (claimant.wants()) {
        this.#queued.add(claimant);
        tenant.waiting.push(claimant);
      }
      this.#enter(tenant, this.#served);
    }
    this.#parkedFrom = Math.max(0, this.#free);
  }

  get #free(): number {
    return this.#limits.maxInFlight - this.#steps;
  }

  #mayTake({ steps }: Tenant): boolean {
    return steps < this.#guaranteed || steps < this.#free;
  }

  #releaseStep(tenant: Tenant): void {
    // This tenant waits for just this slot, and has waited longer than the one that releases it
    // if that is parked there too.
    const [next] = this.#parked.get(this.#free) ?? [];
    this.#unpark(tenant);
    tenant.steps -= 1;
    this.#steps -= 1;
    if (next === tenant) this.#enter(tenant);
    // A parked tenant gets its turn for each released slot: several may be released before one is granted.
    const other = next === tenant || next === undefined ? this.#eligible() : next;
    if (other !== undefined) {
      this.#unpark(other);
      this.#enter(other);
    }
    this.#enter(tenant);
  }

  /**
   * Parked tenants get their turn before any tenant starts another round, and in place of one that skipped its turn.
   */
  #next(isTurnLeft: boolean): Tenant | undefined {
    let tenant = (isTurnLeft ? this.#eligible() : undefined) ?? this.#round.shift() ?? this.#eligible();
    if (tenant === undefined) {
      [this.#round, this.#served] = [this.#served, this.#round];
      tenant = this.#round.shift();
    }
    if (tenant !== undefined) tenant.queued = false;
    return tenant;
  }

  /**
   * Returns a parked tenant that now holds fewer slots than are free. Looks at one number for each slot released since.
   */
  #eligible(): Tenant | undefined {
    if (this.#parked.size === 0) return undefined;
    for (; this.#parkedFrom < this.#free; this.#parkedFrom += 1) {
      const [tenant] = this.#parked.get(this.#parkedFrom) ?? [];
      if (tenant === undefined) continue;
      this.#unpark(tenant);
      return tenant;
    }
    return undefined;
  }

  #park(tenant: Tenant): void {
    tenant.parkedAt = tenant.steps;
    const parked = this.#parked.get(tenant.steps);
    if (parked === undefined) this.#parked.set(tenant.steps, new Set([tenant]));
    else parked.add(tenant);
  }

  #unpark(tenant: Tenant): void {
    if (tenant.parkedAt === -1) return;
    const parked = this.#parked.get(tenant.parkedAt);
    parked?.delete(tenant);
    if (parked?.size === 0) this.#parked.delete(tenant.parkedAt);
    tenant.parkedAt = -1;
  }

  /** Returns the tenant's next run. Runs that no longer want a slot (stopped, paused) do not cost it its turn. */
  #nextOf(tenant: Tenant): Claimant | undefined {
    for (let claimant = tenant.waiting.shift(); claimant !== undefined; claimant = tenant.waiting.shift()) {
      this.#queued.delete(claimant);
      if (claimant.wants()) return claimant;
    }
    return undefined;
  }

  #enter(tenant: Tenant, round = this.#round): void {
    if (tenant.queued || tenant.parkedAt !== -1) return;
    if (tenant.waiting.size === 0 || tenant.steps >= this.#limits.maxInFlightPerTenant) return;
    tenant.queued = true;
    round.push(tenant);
  }

  #tenant(id: string): Tenant {
    let tenant = this.#tenants.get(id);
    if (tenant === undefined) {
      tenant = { steps: 0, calls: 0, queued: false, parkedAt: -1, waiting: new Fifo() };
      this.#tenants.set(id, tenant);
    }
    return tenant;
  }
}

/**
 * Since when each step of a run that could not start immediately has been waiting for a slot. While there are enough
 * slots, it holds nothing and costs nothing.
 */
export class SlotWaits {
  #since: Map<string, number> | null = null;

  /** Notes that the step starts; returns how long it waited, in ms. */
  started(step: string, now: number): number {
    const since = this.#since?.get(step);
    if (since === undefined) return 0;
    this.#since?.delete(step);
    return Math.max(0, now - since);
  }

  /** Notes the steps that are ready and got no slot. */
  stillWaiting(ready: ReadonlySet<string>, now: number): void {
    this.#since ??= new Map();
    // Steps that started were removed, so equal sizes mean that no step has become ready.
    if (this.#since.size === ready.size) return;
    for (const step of ready) if (!this.#since.has(step)) this.#since.set(step, now);
  }

  /** Clears it: no step is ready, or the run does not advance. */
  clear(): void {
    this.#since = null;
  }
}
