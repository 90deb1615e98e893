import type { ActionPrices, BillableAction } from '../../../../contract/billable-actions.ts';
import type { StepTypes } from '../../../../contract/step-type.ts';
import type { OnExcess } from '../../../turn/pricing.ts';
import type { Pricing } from '../../../turn/turn.ts';
import type { CreditAccount } from './credit-account.ts';
import type { CreditMeter } from './credit-meter.ts';

/**
 * Whether a step may begin: it is paid for, or its workspace has too little left, or what is known of that is too old to
 * deny it anything.
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
  readonly #holds = new Map<string, number>();
  /** Charged by the entry in progress. */
  #underWay = 0;
  /** Reads of the account when something was first too dear. */
  #readsThen: number | null = null;

  constructor(account: CreditAccount, meter: CreditMeter, types: StepTypes) {
    this.#account = account;
    this.#meter = meter;
    this.#types = types;
  }

  /** Returns what attempts cost that end now; `onExcess` is called where one says that it used more than can be charged. */
  pricing(onExcess: OnExcess): Pricing {
    return { prices: this.#account.prices, onExcess, types: this.#types };
  }

  get pauses(): boolean {
    return this.#account.whenExhausted === 'pause';
  }

  /** Holds what is known in advance that an attempt of the step will cost. Nothing is denied by what was read before it was asked for. */
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

  /** The run does not advance: once it does again, nothing is denied by what was read until then. */
  forgetAsked(): void {
    this.#readsThen = null;
  }

  /** Calls back once the balance was read again. */
  whenKnown(known: () => void): void {
    void this.#meter.rereadUntilKnown(this.#account, known);
  }

  /** The attempt has ended, or waits for people, or never began. */
  release(step: string): void {
    const held = this.#holds.get(step);
    if (held === undefined) return;
    this.#holds.delete(step);
    this.#account.release(held);
  }

  /** Reserves the charges of the entry that is decided now, until its commit. */
  send(credits: number): void {
    if (credits === 0) return;
    this.#underWay = credits;
    this.#account.send(credits);
    this.#meter.use(this.#account);
  }

  /** The outcome of that entry. */
  sent(committed: boolean): void {
    if (this.#underWay === 0) return;
    this.#account.sent(this.#underWay, committed);
    this.#underWay = 0;
    if (committed) this.#meter.charged(this.#account);
  }

  /** The run is no longer ours: it holds nothing. */
  drop(): void {
    this.sent(false);
    for (const held of this.#holds.values()) this.#account.release(held);
    this.#holds.clear();
  }
}

/** The minimum cost of an attempt: an answer of a model, a token of each kind. */
function priceAhead(billable: readonly BillableAction[], prices: ActionPrices): number {
  return billable.reduce((sum, action) => sum + prices[action], prices.workflow_step);
}
