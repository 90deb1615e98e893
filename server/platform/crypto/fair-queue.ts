/** The origin of a piece of work: the client's address, and the account that it concerns. */
export type Requester = { address: string; account: string };

type Waiter = { start: () => void; refuse: () => void };
/** The waiting requests by account, in the order of their turns. */
type Accounts = Map<string, Waiter[]>;

const waitersOf = (accounts: Accounts): number => [...accounts.values()].reduce((sum, { length }) => sum + length, 0);

/**
 * Runs a few pieces of work at a time and lets a limited number wait. Addresses take turns, and so do the accounts of one
 * address. A full queue refuses the newest waiter of the address with the most waiters. So a flood from one address, or at one
 * account, delays and refuses only its own requests: another address is served after at most one request of the flood.
 */
export class FairQueue {
  readonly #running: number;
  readonly #waiting: number;
  readonly #refusal: () => Error;
  readonly #addresses = new Map<string, Accounts>();
  #active = 0;
  #queued = 0;

  /** `refusal` creates the error for a request that is refused because the queue is full. */
  constructor(options: { running: number; waiting: number; refusal: () => Error }) {
    this.#running = options.running;
    this.#waiting = options.waiting;
    this.#refusal = options.refusal;
  }

  /** Runs `work` when it is this requester's turn. If the queue is full, rejects with the refusal and does not run `work`. */
  async run<T>(requester: Requester, work: () => Promise<T>): Promise<T> {
    if (this.#active < this.#running) this.#active += 1;
    // Finishing work passes its slot on, so the number of running pieces stays the same.
    else await new Promise<void>((start, reject) => this.#enqueue(requester, start, () => reject(this.#refusal())));
    try {
      return await work();
    } finally {
      const next = this.#dequeue();
      if (next) next.start();
      else this.#active -= 1;
    }
  }

  #enqueue({ address, account }: Requester, start: () => void, refuse: () => void): void {
    const accounts = this.#addresses.get(address) ?? new Map<string, Waiter[]>();
    this.#addresses.set(address, accounts);
    const waiters = accounts.get(account) ?? [];
    accounts.set(account, waiters);
    waiters.push({ start, refuse });
    this.#queued += 1;
    if (this.#queued > this.#waiting) this.#dropNewest();
  }

  /** Refuses the newest waiter of the longest line: at the address with the most, the account with the most. */
  #dropNewest(): void {
    const [address, accounts] = longest(this.#addresses, waitersOf);
    const [account, waiters] = longest(accounts, ({ length }) => length);
    const dropped = waiters.pop();
    this.#queued -= 1;
    if (waiters.length === 0) accounts.delete(account);
    if (accounts.size === 0) this.#addresses.delete(address);
    dropped?.refuse();
  }

  #dequeue(): Waiter | undefined {
    const turn = this.#addresses.entries().next();
    if (turn.done) return undefined;
    const [address, accounts] = turn.value;
    const inner = accounts.entries().next();
    if (inner.done) return undefined;
    const [account, waiters] = inner.value;
    const waiter = waiters.shift();
    this.#queued -= 1;
    // Deleting and setting the account again moves it to the end of the line.
    accounts.delete(account);
    if (waiters.length > 0) accounts.set(account, waiters);
    this.#addresses.delete(address);
    if (accounts.size > 0) this.#addresses.set(address, accounts);
    return waiter;
  }
}

/** Returns the entry with the largest size; among equal ones, the last entry, which arrived or had its turn last. */
function longest<V>(entries: ReadonlyMap<string, V>, size: (value: V) => number): [string, V] {
  let found: [string, V] | undefined;
  for (const entry of entries) if (!found || size(entry[1]) >= size(found[1])) found = entry;
  if (!found) throw new Error('The queue is empty.');
  return found;
}
