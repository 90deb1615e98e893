import type { Alarm, Clock } from './clock.ts';
import { Fifo } from './fifo.ts';

/** The maximum number of concurrent requests of one tenant while others are present. */
const AT_ONCE = 4;
/** A tenant is present for this long after its last request. */
const PRESENT_MS = 1_000;
/** A request that takes longer is waiting for another event, such as the end of a run, and no longer counts. */
const COUNTED_MS = 100;

type Tenant = {
  /** One object for each request that counts. */
  readonly counted: Set<object>;
  readonly waiting: Fifo<(counted: object) => void>;
};

/**
 * Lets the requests of tenants take turns: while more than one tenant is present, a tenant with many requests has a few in
 * progress, and its other requests wait. Otherwise the database's answers to other tenants would wait behind all answers to this
 * tenant. No request is refused, and a tenant is not limited while no other is present.
 */
export class RequestTurns {
  readonly #clock: Clock;
  readonly #alarm: Alarm;
  readonly #tenants = new Map<string, Tenant>();
  /** The last two tenants that sent a request, and when. */
  #last = { tenantId: '', at: Number.NEGATIVE_INFINITY };
  #other = this.#last;

  constructor({ clock, alarm }: { clock: Clock; alarm: Alarm }) {
    this.#clock = clock;
    this.#alarm = alarm;
  }

  /** Calls `act` when it is the tenant's turn; settles as it does. */
  async take<T>(tenantId: string, act: () => Promise<T>): Promise<T> {
    this.#notePresence(tenantId);
    const tenant = this.#tenant(tenantId);
    const counted =
      tenant.waiting.size === 0 && this.#mayBegin(tenant) ? begin(tenant) : await this.#turn(tenantId, tenant);
    try {
      return await act();
    } finally {
      tenant.counted.delete(counted);
      this.#admit(tenantId, tenant);
    }
  }

  #turn(tenantId: string, tenant: Tenant): Promise<object> {
    return new Promise(resolve => {
      tenant.waiting.push(resolve);
      if (tenant.waiting.size === 1) this.#watch(tenantId, tenant);
    });
  }

  /** While requests wait, those that have taken long stop to count. */
  #watch(tenantId: string, tenant: Tenant): void {
    const before = [...tenant.counted];
    this.#alarm(COUNTED_MS, () => {
      for (const counted of before) tenant.counted.delete(counted);
      this.#admit(tenantId, tenant);
      if (tenant.waiting.size > 0) this.#watch(tenantId, tenant);
    });
  }

  #admit(tenantId: string, tenant: Tenant): void {
    while (tenant.waiting.size > 0 && this.#mayBegin(tenant)) tenant.waiting.shift()?.(begin(tenant));
    if (tenant.counted.size === 0 && this.#tenants.get(tenantId) === tenant) this.#tenants.delete(tenantId);
  }

  #mayBegin(tenant: Tenant): boolean {
    return tenant.counted.size < AT_ONCE || this.#clock.now() - this.#other.at > PRESENT_MS;
  }

  #notePresence(tenantId: string): void {
    if (this.#last.tenantId !== tenantId) this.#other = this.#last;
    this.#last = { tenantId, at: this.#clock.now() };
  }

  #tenant(id: string): Tenant {
    let tenant = this.#tenants.get(id);
    if (tenant === undefined) {
      tenant = { counted: new Set(), waiting: new Fifo() };
      this.#tenants.set(id, tenant);
    }
    return tenant;
  }
}

function begin(tenant: Tenant): object {
  const counted = {};
  tenant.counted.add(counted);
  return counted;
}
