import { Fifo } from '../../../platform/fifo.ts';

/** An item, and the tenant for which it waits; the empty string if the tenant is not known. */
type OfTenant = { readonly tenantId: string };

/** A queue in which tenants take turns, while the items of each tenant stay in order. */
export class TenantTurns<T extends OfTenant> {
  /** The tenant that was served longest ago is first. */
  #queues = new Map<string, Fifo<T>>();
  #size = 0;

  get size(): number {
    return this.#size;
  }

  push(item: T): void {
    this.#queue(item.tenantId).push(item);
    this.#size += 1;
  }

  /** Puts items back, before all others of their tenants. */
  putBack(items: readonly T[]): void {
    for (const item of items.toReversed()) this.#queue(item.tenantId).unshift(item);
    this.#size += items.length;
  }

  /** Takes the next item. */
  shift(): T | undefined {
    for (const [tenantId, queue] of this.#queues) {
      const item = queue.shift();
      this.#queues.delete(tenantId);
      if (queue.size > 0) this.#queues.set(tenantId, queue);
      if (item === undefined) continue;
      this.#size -= 1;
      return item;
    }
    return undefined;
  }

  /** Takes at most this many items, in turns. */
  take(most: number): T[] {
    const taken: T[] = [];
    while (taken.length < most) {
      const item = this.shift();
      if (item === undefined) break;
      taken.push(item);
    }
    return taken;
  }

  /** Takes the items for which `isWanted` holds; the others keep their places. O(items). */
  takeWhere(isWanted: (item: T) => boolean): T[] {
    const taken: T[] = [];
    const others = new Map<string, Fifo<T>>();
    for (const [tenantId, queue] of this.#queues) {
      const left = new Fifo<T>();
      for (const item of queue)
        if (isWanted(item)) taken.push(item);
        else left.push(item);
      if (left.size > 0) others.set(tenantId, left);
    }
    this.#queues = others;
    this.#size -= taken.length;
    return taken;
  }

  #queue(tenantId: string): Fifo<T> {
    let queue = this.#queues.get(tenantId);
    if (queue === undefined) {
      queue = new Fifo();
      this.#queues.set(tenantId, queue);
    }
    return queue;
  }
}
