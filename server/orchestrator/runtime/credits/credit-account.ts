import type { ActionPrices } from '../../ports/billable-actions.ts';
import { FREE, type TenantCredits } from '../../ports/credits.ts';

/** A read of a workspace's credits in progress: its number, and whether no charge was in progress at its start. */
export type CreditRead = { readonly number: number; readonly epoch: number; readonly quiet: boolean };

/**
 * The leader's knowledge of one workspace's credits, and the reservations on them.
 *
 * Only the leader charges: its session holds the lock. So for any read of the database, with any number of its own
 * commits in progress, `balance + consumed` changes only by grants, expiries, refunds and waives: a charge subtracts
 * from one what it adds to the other. That sum (`#granted`) less what this leader has committed by its own count
 * (`#consumed`) is the balance as of the last commit, and a read at any moment may simply replace the sum. If a read
 * met none of our charges in progress, our count is set to the database's too, which repairs any deviation.
 */
export class CreditAccount {
  readonly tenantId: string;
  prices: ActionPrices = FREE.prices;
  whenExhausted: TenantCredits['whenExhausted'] = FREE.whenExhausted;
  enforced = FREE.enforced;
  /** The number of reads that were answered. Comparing two values shows whether a read was answered in between. */
  reads = 0;
  /** The clock's time of the last read, ms since the epoch. */
  readAt = Number.NEGATIVE_INFINITY;
  #allowance = 0;
  /** `balance + consumed` as last read. */
  #granted = 0;
  #consumed = 0;
  /** Reservations of attempts in flight, at the price known in advance. */
  #held = 0;
  /** Charges of attempts that ended, in entries whose commit has not been answered. */
  #underWay = 0;
  /** Counts the entries that were sent to be charged. */
  #epoch = 0;
  #readsStarted = 0;
  #lastRead = 0;
  /** The last warning: the allowance that it was about, and the percentage of it. */
  #warned: { allowance: number; percent: number } = { allowance: 0, percent: 0 };

  constructor(tenantId: string) {
    this.tenantId = tenantId;
  }

  /**
   * The credits available to new attempts, in microcredits; negative if attempts cost more than was known in advance.
   */
  get available(): number {
    return this.#granted - this.#consumed - this.#held - this.#underWay;
  }

  /** Returns whether an attempt of this price may start. Free ones always may. */
  affords(price: number): boolean {
    return !this.enforced || price === 0 || this.available >= price;
  }

  /** Returns whether one step of any kind may start. */
  get affordsStep(): boolean {
    return this.affords(this.prices.workflow_step);
  }

  hold(credits: number): void {
    this.#held += credits;
  }

  release(credits: number): void {
    this.#held -= credits;
  }

  /** Reserves the charges of an entry that is handed to the log. */
  send(credits: number): void {
    this.#underWay += credits;
    this.#epoch += 1;
  }

  /** Ends the reservation of an entry; `committed`: its charges are in the database. */
  sent(credits: number, committed: boolean): void {
    this.#underWay -= credits;
    if (committed) this.#consumed += credits;
  }

  startRead(): CreditRead {
    this.#readsStarted += 1;
    return { number: this.#readsStarted, epoch: this.#epoch, quiet: this.#underWay === 0 };
  }

  /** Takes over what a read found, at `now`. Ignores a read that started before the last one that was answered. */
  endRead(read: CreditRead, found: TenantCredits, now: number): void {
    if (read.number < this.#lastRead) return;
    this.#lastRead = read.number;
    this.reads += 1;
    this.readAt = now;
    this.prices = found.prices;
    this.whenExhausted = found.whenExhausted;
    this.enforced = found.enforced;
    this.#allowance = found.allowance;
    this.#granted = found.balance + found.consumed;
    // Charges from before the first read are not this leader's.
    if (this.reads === 1 || (read.quiet && read.epoch === this.#epoch)) this.#consumed = found.consumed;
  }

  /**
   * Returns the warning that is due: 80 or 100 percent of the allowance are used. Each is due once
   * per allowance. Null: none.
   */
  takeWarning(): 80 | 100 | null {
    if (this.#allowance <= 0) return null;
    if (this.#warned.allowance !== this.#allowance) this.#warned = { allowance: this.#allowance, percent: 0 };
    const balance = this.#granted - this.#consumed;
    const percent = balance <= 0 ? 100 : balance * 5 <= this.#allowance ? 80 : 0;
    if (percent === 0 || percent <= this.#warned.percent) return null;
    this.#warned.percent = percent;
    return percent;
  }
}
