import type { StepError } from '../../core/index.ts';
import type { Spent } from '../../ports/spending.ts';
import type { Reserved, Wanted } from '../../ports/step-type.ts';

/** Reads the limit and the charges so far, and returns the error of a refused attempt. */
export type AllowanceReader = { read(): Promise<Spent> | Spent; refusal(): StepError };

/**
 * Credits that several attempts share: the daily limit of a person, or the budget of a run. An attempt reserves its maximum cost before it
 * begins. If less is left, the attempt waits for attempts in flight, so that it never spends what another one has reserved.
 *
 * There are no races, because only the leader executes attempts, and a decision and its reservation are one turn of the event loop. Charges
 * whose commit a read may have missed count in addition.
 */
export class Allowance {
  readonly #reader: AllowanceReader;
  /** The reservations, by run and step. */
  readonly #holds = new Map<string, number>();
  /** The cost of the ends of expanded steps, which are certain to follow, by run. */
  readonly #pledges = new Map<string, number>();
  /** Charges in entries whose commit has not been answered. */
  #underWay = 0;
  /** The committed charges since this allowance was created. */
  #committed = 0;
  #queue: Promise<unknown> = Promise.resolve();
  #changed = Promise.withResolvers<void>();

  constructor(reader: AllowanceReader) {
    this.#reader = reader;
  }

  /** Whether nothing is reserved or in progress, so that the allowance can be dropped and created again. */
  get isIdle(): boolean {
    return this.#holds.size + this.#pledges.size === 0 && this.#underWay === 0;
  }

  /**
   * Reserves between `least` and `most` of the rest. Attempts are served in order. Rejects if the rest cannot be read, or
   * `signal` aborts.
   */
  reserve(key: string, wanted: Wanted, signal: AbortSignal): Promise<Reserved> {
    const reserved = this.#queue.then(() => this.#reserve(key, wanted, signal));
    this.#queue = reserved.catch(() => undefined);
    return reserved;
  }

  async #reserve(key: string, { least, most }: Wanted, signal: AbortSignal): Promise<Reserved> {
    for (;;) {
      signal.throwIfAborted();
      const before = this.#committed;
      const { limit, spent } = await this.#reader.read();
      signal.throwIfAborted();
      const uncertain = this.#committed - before + this.#underWay;
      const held = sum(this.#holds);
      const left = limit === null ? most : limit - spent - uncertain - held - sum(this.#pledges);
      const granted = Math.min(most, left);
      if (granted >= most || (uncertain + held === 0 && granted >= least)) {
        this.#holds.set(key, granted);
        return { kind: 'reserved', microcredits: granted };
      }
      if (uncertain + held === 0) return { kind: 'refused', error: this.#reader.refusal() };
      // A stale read may be the only reason why too little is left, so it is repeated at once.
      if (this.#underWay + held > 0) await this.#nextChange(signal);
    }
  }

  /** Lowers a reservation to what another allowance has granted. */
  lower(key: string, microcredits: number): void {
    if (this.#holds.has(key)) this.#holds.set(key, microcredits);
  }

  release(key: string): void {
    if (this.#holds.delete(key)) this.#change();
  }

  pledge(run: string, microcredits: number): void {
    if (microcredits > 0) this.#pledges.set(run, microcredits);
    else this.#pledges.delete(run);
  }

  send(credits: number): void {
    this.#underWay += credits;
  }

  sent(credits: number, committed: boolean): void {
    this.#underWay -= credits;
    if (committed) this.#committed += credits;
    this.#change();
  }

  #change(): void {
    this.#changed.resolve();
    this.#changed = Promise.withResolvers();
  }

  async #nextChange(signal: AbortSignal): Promise<void> {
    const { promise, resolve } = Promise.withResolvers<void>();
    const end = () => resolve();
    signal.addEventListener('abort', end, { once: true });
    await Promise.race([this.#changed.promise, promise]);
    signal.removeEventListener('abort', end);
  }
}

function sum(amounts: ReadonlyMap<string, number>): number {
  let total = 0;
  for (const amount of amounts.values()) total += amount;
  return total;
}
