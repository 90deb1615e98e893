/** A run that has steps to begin. */
export type Claimant = {
  readonly tenantId: string;
  /** Whether it would begin another step now, beside those it was granted already. */
  wants(): boolean;
  /** Takes one slot; to be given back with `release`. */
  grant(): void;
};

type Tenant = { inUse: number; queued: boolean; readonly waiting: Fifo<Claimant> };

/**
 * In-flight slots, limited in total and for each tenant, given out round robin across tenants and, within a tenant,
 * across its runs (engine.md, guarantee 7). A slot is one attempt in flight. Every operation is O(1).
 */
export class Slots {
  readonly #max: number;
  readonly #maxPerTenant: number;
  #inUse = 0;
  readonly #tenants = new Map<string, Tenant>();
  /** Tenants that wait and are below their limit, whose turn is next first. */
  readonly #round = new Fifo<Tenant>();
  readonly #queued = new Set<Claimant>();

  constructor(max: number, maxPerTenant: number) {
    this.#max = max;
    this.#maxPerTenant = maxPerTenant;
  }

  get inUse(): number {
    return this.#inUse;
  }

  /** Whether somebody waits who is below their limit. */
  get waiting(): boolean {
    return this.#round.size > 0;
  }

  /** For each tenant that has any: its attempts in flight. */
  inUseByTenant(): Map<string, number> {
    const inUse = new Map<string, number>();
    for (const [id, tenant] of this.#tenants) if (tenant.inUse > 0) inUse.set(id, tenant.inUse);
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

  release(tenantId: string): void {
    const tenant = this.#tenant(tenantId);
    tenant.inUse -= 1;
    this.#inUse -= 1;
    this.#enter(tenant);
    if (tenant.inUse === 0 && !tenant.queued && tenant.waiting.size === 0) this.#tenants.delete(tenantId);
  }

  /** Gives out what is free. */
  pump(): void {
    while (this.#inUse < this.#max) {
      const tenant = this.#round.shift();
      if (tenant === undefined) return;
      tenant.queued = false;
      const claimant = this.#nextOf(tenant);
      if (claimant === undefined) continue;
      tenant.inUse += 1;
      this.#inUse += 1;
      claimant.grant();
      if (claimant.wants()) {
        this.#queued.add(claimant);
        tenant.waiting.push(claimant);
      }
      this.#enter(tenant);
    }
  }

  /** Runs that want nothing any more (stopped, paused) do not cost their tenant its turn. */
  #nextOf(tenant: Tenant): Claimant | undefined {
    for (let claimant = tenant.waiting.shift(); claimant !== undefined; claimant = tenant.waiting.shift()) {
      this.#queued.delete(claimant);
      if (claimant.wants()) return claimant;
    }
    return undefined;
  }

  #enter(tenant: Tenant): void {
    if (tenant.queued || tenant.waiting.size === 0 || tenant.inUse >= this.#maxPerTenant) return;
    tenant.queued = true;
    this.#round.push(tenant);
  }

  #tenant(id: string): Tenant {
    let tenant = this.#tenants.get(id);
    if (tenant === undefined) {
      tenant = { inUse: 0, queued: false, waiting: new Fifo() };
      this.#tenants.set(id, tenant);
    }
    return tenant;
  }
}

/** First in, first out in O(1); an array's own shift moves all its elements. */
class Fifo<T> {
  #items: T[] = [];
  #head = 0;

  get size(): number {
    return this.#items.length - this.#head;
  }

  push(item: T): void {
    this.#items.push(item);
  }

  shift(): T | undefined {
    if (this.#head === this.#items.length) return undefined;
    const item = this.#items[this.#head];
    this.#head += 1;
    if (this.#head >= 1024 && this.#head * 2 >= this.#items.length) {
      this.#items = this.#items.slice(this.#head);
      this.#head = 0;
    }
    return item;
  }
}
