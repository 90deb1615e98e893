type Waiter = { bytes: number; grant: () => void };

/**
 * A semaphore that counts bytes. Tenants that wait are served in turns, and the requests of each tenant in order; a
 * tenant whose request does not fit is passed over. A request that is larger than the limit is granted when nothing
 * else is in use, so that none waits forever.
 */
export class ByteBudget {
  readonly #limit: number;
  readonly #isShared: boolean;
  readonly #held = new Map<string, number>();
  readonly #waiting = new Map<string, Waiter[]>();
  #used = 0;

  /**
   * `isShared`: tenants share it by a dynamic threshold. A tenant gets bytes only if it then holds no more than is left
   * for all others. So however much it holds, and for however long, later tenants can still get half of the rest.
   */
  constructor(limit: number, { isShared }: { isShared: boolean }) {
    this.#limit = limit;
    this.#isShared = isShared;
  }

  get used(): number {
    return this.#used;
  }

  /** Requests that wait. */
  get waiting(): number {
    let waiting = 0;
    for (const { length } of this.#waiting.values()) waiting += length;
    return waiting;
  }

  /** Takes the bytes if they fit and no earlier request of the tenant is waiting. Returns whether it took them. */
  tryTake(tenant: string, bytes: number): boolean {
    if (this.#waiting.has(tenant) || !this.#fits(tenant, bytes)) return false;
    this.add(tenant, bytes);
    return true;
  }

  /** Settles once the bytes are taken. Rejects when `signal` aborts first. */
  take(tenant: string, bytes: number, signal: AbortSignal): Promise<void> {
    if (this.tryTake(tenant, bytes)) return Promise.resolve();
    return new Promise((resolve, reject) => {
      const abort = () => {
        this.#remove(tenant, waiter);
        this.#grant();
        reject(signal.reason);
      };
      const grant = () => {
        signal.removeEventListener('abort', abort);
        resolve();
      };
      const waiter = { bytes, grant };
      const queue = this.#waiting.get(tenant);
      if (queue === undefined) this.#waiting.set(tenant, [waiter]);
      else queue.push(waiter);
      signal.addEventListener('abort', abort, { once: true });
    });
  }

  /** Takes the bytes whether there is room for them or not. */
  add(tenant: string, bytes: number): void {
    this.#used += bytes;
    this.#held.set(tenant, this.#heldBy(tenant) + bytes);
  }

  give(tenant: string, bytes: number): void {
    this.#used -= bytes;
    const left = this.#heldBy(tenant) - bytes;
    if (left > 0) this.#held.set(tenant, left);
    else this.#held.delete(tenant);
    this.#grant();
  }

  #heldBy(tenant: string): number {
    return this.#held.get(tenant) ?? 0;
  }

  #fits(tenant: string, bytes: number): boolean {
    const besides = this.#isShared ? this.#heldBy(tenant) : 0;
    return this.#used === 0 || besides + bytes <= this.#limit - this.#used;
  }

  #grant(): void {
    for (let next = this.#next(); next !== undefined; next = this.#next()) {
      const [tenant, queue, waiter] = next;
      queue.shift();
      // The first key is the tenant that was served longest ago.
      this.#waiting.delete(tenant);
      if (queue.length > 0) this.#waiting.set(tenant, queue);
      this.add(tenant, waiter.bytes);
      waiter.grant();
    }
  }

  #next(): [string, Waiter[], Waiter] | undefined {
    for (const [tenant, queue] of this.#waiting) {
      const [waiter] = queue;
      if (waiter !== undefined && this.#fits(tenant, waiter.bytes)) return [tenant, queue, waiter];
    }
    return undefined;
  }

  #remove(tenant: string, waiter: Waiter): void {
    const left = (this.#waiting.get(tenant) ?? []).filter(other => other !== waiter);
    if (left.length === 0) this.#waiting.delete(tenant);
    else this.#waiting.set(tenant, left);
  }
}
