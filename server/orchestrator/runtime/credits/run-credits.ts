import type { ActionPrices, BillableAction } from '../../ports/billable-actions.ts';
import type { Reserved, StepTypes, Wanted } from '../../ports/step-type.ts';
import type { OnExcess } from '../../turn/pricing.ts';
import type { Pricing } from '../../turn/turn.ts';
import type { HeldRun } from '../runs/run-host.ts';
import type { CreditAccount } from './credit-account.ts';
import type { CreditMeter } from './credit-meter.ts';
import { RunLimits } from './run-limits.ts';

/**
 * Whether a step may start: `admitted`, its price is held; `denied`, the workspace has too little left; `unknown`, the
 * balance must be read again before the step can be denied.
 */
export type Admission = 'admitted' | 'denied' | 'unknown';

/**
 * The reservations of one run on its workspace's credits: for its attempts in flight, and for the charges of its entry
 * in progress.
 */
export class RunCredits {
  readonly #account: CreditAccount;
  readonly #meter: CreditMeter;
  readonly #types: StepTypes;
  readonly #run: HeldRun;
  /** Undefined until the run has started. */
  #limits: RunLimits | null | undefined;
  readonly #holds = new Map<string, number>();
  /** The charges of the entry in progress, as they were decided one after the other. */
  readonly #underWay: number[] = [];
  /** `reads` of the account when a step was first too expensive; null while none is. */
  #readsThen: number | null = null;

  constructor(run: HeldRun, account: CreditAccount, meter: CreditMeter, types: StepTypes) {
    this.#run = run;
    this.#account = account;
    this.#meter = meter;
    this.#types = types;
  }

  /**
   * Returns the prices for attempts that end now. `onExcess` is called if one reports more usage than can be charged.
   */
  pricing(onExcess: OnExcess): Pricing {
    return { prices: this.#account.prices, onExcess, types: this.#types };
  }

  get prices(): ActionPrices {
    return this.#account.prices;
  }

  get pauses(): boolean {
    return this.#account.whenExhausted === 'pause';
  }

  /** The limits of the run in addition to the credits of its workspace; null for none. */
  get #limited(): RunLimits | null {
    const { identity, state } = this.#run;
    if (this.#limits === undefined && state.started !== null)
      this.#limits = RunLimits.of(identity, state, this.#meter.spenders);
    return this.#limits ?? null;
  }

  /** Returns how an attempt of the step reserves what it may cost; undefined where nothing limits that. */
  reserver(step: string): ((wanted: Wanted, signal: AbortSignal) => Promise<Reserved>) | undefined {
    const limits = this.#limited;
    return limits === null ? undefined : (wanted, signal) => limits.reserve(step, wanted, signal);
  }

  /** Holds the minimum price of the step. Denies it only if the balance was read again after it was first too low. */
  admit(step: string, stepType: string): Admission {
    const price = priceAhead(this.#types.get(stepType)?.billable ?? [], this.#account.prices);
    if (!this.#account.affords(price)) {
      this.#readsThen ??= this.#account.reads;
      if (this.#account.reads <= this.#readsThen) return 'unknown';
      this.#readsThen = null;
      return 'denied';
    }
    this.#readsThen = null;
    if (price === 0) return 'admitted';
    this.#account.hold(price);
    this.#holds.set(step, price);
    this.#meter.use(this.#account);
    return 'admitted';
  }

  /** Call this when the run does not advance: before a step can be denied again, the balance is read once more. */
  forgetAsked(): void {
    this.#readsThen = null;
  }

  /** Calls `known` once the balance was read again. */
  whenKnown(known: () => void): void {
    void this.#meter.rereadUntilKnown(this.#account, known);
  }

  /** Releases what is held for the step: its attempt has ended, waits for people, or never started. */
  release(step: string): void {
    this.#limits?.release(step);
    const held = this.#holds.get(step);
    if (held === undefined) return;
    this.#holds.delete(step);
    this.#account.release(held);
  }

  /**
   * Reserves charges that were just decided until their commit. Call this before the next step is admitted: the attempts
   * that they are for hold nothing any more.
   */
  send(credits: number): void {
    this.#limited?.send(credits, this.#account.prices.workflow_step);
    if (credits === 0) return;
    this.#underWay.push(credits);
    this.#account.send(credits);
    this.#meter.use(this.#account);
  }

  /** Ends that reservation; `committed`: the charges are in the database. */
  sent(committed: boolean): void {
    this.#limits?.sent(committed);
    if (this.#underWay.length === 0) return;
    // One by one, so that no threshold is passed without its warning.
    for (const credits of this.#underWay.splice(0)) {
      this.#account.sent(credits, committed);
      if (committed) this.#meter.charged(this.#account);
    }
  }

  /** Releases everything: this process no longer executes the run. */
  drop(): void {
    this.sent(false);
    this.#limits?.drop();
    for (const held of this.#holds.values()) this.#account.release(held);
    this.#holds.clear();
  }
}

/**
 * Returns the minimum cost of an attempt: the step, and one unit of each billable action (for a
 * model, a token of each kind).
 */
export function priceAhead(billable: readonly BillableAction[], prices: ActionPrices): number {
  return billable.reduce((sum, action) => sum + prices[action], prices.workflow_step);
}
