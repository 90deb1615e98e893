import type { StepError } from '../../core/index.ts';
import type { Spent } from '../../ports/spending.ts';
import type { Reserved, Wanted } from '../../ports/step-type.ts';

/** Reads what may be spent and what has been charged, and says why an attempt for which too little is left is refused. */
export type AllowanceReader = { read(): Promise<Spent> | Spent; refusal(): StepError };

/**
 * Credits that several attempts share: of a person's day, or of a run. An attempt reserves the most that it can cost before it does
 * anything; when less is left, it waits for the attempts in flight, so that it never spends what one of them has reserved.
 *
 * Race-free, because only the leader executes attempts, and a decision and its reservation are one turn of the event loop. Charges whose
 * commit may or may not be part of what was read count in addition.
 */
export class Allowance {
  readonly #reader: AllowanceReader;
  /** By run and step. */
  readonly #holds = new Map<string, number>();
  /** By run: the ends of steps that have expanded, which are certain to follow. */
  readonly #pledges = new Map<string, number>();
  /** Charges in entries whose commit has not been answered. */
  #underWay = 0;
  /** Everything that was committed since this was created. */
  #committed = 0;
  #queue: Promise<unknown> = Promise.resolve();
  #changed = Promise.withResolvers<void>();

  constructor(reader: AllowanceReader) {
    this.#reader = reader;
  }

  /** Whether nothing is reserved or under way, so that it can be created anew. */
  get isIdle(): boolean {
    return this.#holds.size + this.#pledges.size === 0 && this.#underWay === 0;
  }

  /**
   * Reserves as much of `most` as is left, at least `least`. Attempts are served in order. Rejects if what is left cannot be read, or
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
      // Read again at once if the doubt is about the reading alone.
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
