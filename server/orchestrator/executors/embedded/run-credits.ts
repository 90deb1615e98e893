import type { ActionPrices } from '../../../contract/billable-actions.ts';
import type { CreditAccount } from './credit-account.ts';
import type { CreditMeter } from './credit-meter.ts';

/**
 * Whether a step may begin: it is paid for, or its workspace has too little left, or what is known of that is too old to
 * deny it anything.
 */
export type Admission = 'admitted' | 'denied' | 'unknown';

/** What one run holds of its workspace's credits: for its attempts in flight, and for what its entry under way charges. */
export class RunCredits {
  readonly #account: CreditAccount;
  readonly #meter: CreditMeter;
  readonly #holds = new Map<string, number>();
  /** Charged by the entry under way. */
  #underWay = 0;
  /** Reads of the account when something was first too dear. */
  #readsThen: number | null = null;

  constructor(account: CreditAccount, meter: CreditMeter) {
    this.#account = account;
    this.#meter = meter;
  }

  get prices(): ActionPrices {
    return this.#account.prices;
  }

  get pauses(): boolean {
    return this.#account.whenExhausted === 'pause';
  }

  /** Holds what is known in advance that an attempt of the step will cost. Nothing is denied by what was read before it was asked for. */
  admit(step: string, stepType: string): Admission {
    const price = priceAhead(stepType, this.#account.prices);
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

  /** Calls back once what is left was read anew. */
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

  /** What the entry that is decided now charges: it is spoken for until its commit. */
  send(credits: number): void {
    if (credits === 0) return;
    this.#underWay = credits;
    this.#account.send(credits);
    this.#meter.use(this.#account);
  }

  /** What became of that entry. */
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

/** What an attempt costs at least, before it has used anything: an answer of a model, a token of each kind. */
function priceAhead(stepType: string, prices: ActionPrices): number {
  switch (stepType) {
    case 'mcp_call':
      return prices.workflow_step + prices.tool_call;
    case 'llm_call':
      return prices.workflow_step + prices.llm_input_tokens + prices.llm_output_tokens;
    default:
      return prices.workflow_step;
  }
}
