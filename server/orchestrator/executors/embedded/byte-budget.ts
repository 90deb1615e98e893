type Waiter = { bytes: number; grant: () => void };

/**
 * A semaphore that counts bytes. Tenants that wait are served in turns, each tenant's requests in their order. A request
 * larger than the limit is granted when nothing else is in use, so that no request waits forever.
 */
export class ByteBudget {
  readonly #limit: number;
  readonly #waiting = new Map<string, Waiter[]>();
  #used = 0;

  constructor(limit: number) {
    this.#limit = limit;
  }

  get used(): number {
    return this.#used;
  }

  /** Takes the bytes if they are free and nobody waits for some. */
  tryTake(bytes: number): boolean {
    if (this.#waiting.size > 0 || !this.#fits(bytes)) return false;
    this.#used += bytes;
    return true;
  }

  /** Settles once the bytes are taken. Rejects when `signal` aborts first. */
  take(tenant: string, bytes: number, signal: AbortSignal): Promise<void> {
    if (this.tryTake(bytes)) return Promise.resolve();
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

  /** Takes the bytes whether they are free or not. */
  add(bytes: number): void {
    this.#used += bytes;
  }

  give(bytes: number): void {
    this.#used -= bytes;
    this.#grant();
  }

  #fits(bytes: number): boolean {
    return this.#used === 0 || this.#used + bytes <= this.#limit;
  }

  #grant(): void {
    for (;;) {
      // The first key is the tenant that was served longest ago. Its request is not passed over for a smaller one.
      const [next] = this.#waiting;
      if (next === undefined) return;
      const [tenant, queue] = next;
      const [waiter] = queue;
      if (waiter === undefined || !this.#fits(waiter.bytes)) return;
      queue.shift();
      this.#waiting.delete(tenant);
      if (queue.length > 0) this.#waiting.set(tenant, queue);
      this.#used += waiter.bytes;
      waiter.grant();
    }
  }

  #remove(tenant: string, waiter: Waiter): void {
    const left = (this.#waiting.get(tenant) ?? []).filter(other => other !== waiter);
    if (left.length === 0) this.#waiting.delete(tenant);
    else this.#waiting.set(tenant, left);
  }
}
