import { DAY_MS } from '../../../platform/clock.ts';
import { BUDGET_SPENT, type RunState } from '../../core/index.ts';
import { dayOf, type SpendingSource } from '../../ports/spending.ts';
import type { Reserved, Wanted } from '../../ports/step-type.ts';
import type { RunIdentity } from '../../turn/turn.ts';
import { Allowance } from './allowance.ts';

/** The time for which allowances of earlier days are kept, for runs that began on these days. */
const KEPT_MS = 7 * DAY_MS;

/** The allowances of people, by workspace, person and day. */
export class Spenders {
  readonly #source: SpendingSource | undefined;
  readonly #known = new Map<string, { allowance: Allowance; from: number; tenantId: string }>();

  constructor(source: SpendingSource | undefined) {
    this.#source = source;
  }

  /** Returns the allowance of the person on the day of `at`; null without daily limits. */
  of(tenantId: string, userId: string, at: number): Allowance | null {
    const source = this.#source;
    if (source === undefined) return null;
    const day = dayOf(at);
    const key = `${tenantId}/${userId}/${day.from}`;
    const known = this.#known.get(key);
    if (known !== undefined) return known.allowance;
    for (const [each, { allowance, from }] of this.#known)
      if (from < day.from - KEPT_MS && allowance.isIdle) this.#known.delete(each);
    const allowance = new Allowance({
      read: () => source.load({ tenantId, userId }, day),
      refusal: () => source.refusal(day),
    });
    this.#known.set(key, { allowance, from: day.from, tenantId });
    return allowance;
  }

  /** Forgets the allowances of the people of these workspaces. */
  forget(isOf: (tenantId: string) => boolean): void {
    for (const [key, { tenantId }] of this.#known) if (isOf(tenantId)) this.#known.delete(key);
  }
}

/** The limits of a run: its budget, and the daily limit of the person who spends. */
export class RunLimits {
  readonly #runId: string;
  readonly #state: RunState;
  /** The budget of the run. Its charges are known as soon as they are decided. */
  readonly #budget: Allowance | null;
  readonly #person: Allowance | null;
  #underWay = 0;
  /** The steps with a reservation, or with one in progress. */
  readonly #reserving = new Set<string>();

  private constructor(state: RunState, budget: Allowance | null, person: Allowance | null) {
    this.#runId = state.runId;
    this.#state = state;
    this.#budget = budget;
    this.#person = person;
  }

  /** Returns the limits of a started run; null for none. */
  static of({ tenantId }: RunIdentity, state: RunState, spenders: Spenders): RunLimits | null {
    const { budget: limit, spends_for: userId } = state.started ?? {};
    const person = userId === undefined ? null : spenders.of(tenantId, userId, state.startedAt ?? 0);
    const budget =
      limit === undefined
        ? null
        : new Allowance({ read: () => ({ limit, spent: state.credits }), refusal: overBudget });
    return budget === null && person === null ? null : new RunLimits(state, budget, person);
  }

  /** Reserves the rest of both limits for an attempt of the step. Replaces its earlier reservation. */
  async reserve(step: string, wanted: Wanted, signal: AbortSignal): Promise<Reserved> {
    const key = this.#key(step);
    this.release(step);
    this.#reserving.add(step);
    let most = wanted.most;
    for (const allowance of [this.#budget, this.#person]) {
      if (allowance === null) continue;
      // A run may begin an attempt while any budget is left, and is stopped once its charges exceed the budget.
      const least = allowance === this.#budget ? Math.min(1, wanted.least) : Math.min(most, wanted.least);
      const reserved = await allowance.reserve(key, { least, most }, signal).catch((error: unknown) => {
        this.release(step);
        throw error;
      });
      if (reserved.kind === 'refused') {
        this.release(step);
        return reserved;
      }
      most = reserved.microcredits;
    }
    this.#budget?.lower(key, most);
    return { kind: 'reserved', microcredits: most };
  }

  release(step: string): void {
    if (!this.#reserving.delete(step)) return;
    this.#budget?.release(this.#key(step));
    this.#person?.release(this.#key(step));
  }

  /** Records the charges of the entry that is decided now. `stepPrice`: the cost of the end of an expanded step. */
  send(credits: number, stepPrice: number): void {
    const pledged = this.#state.endedAt === null ? (this.#state.grown?.parents.size ?? 0) * stepPrice : 0;
    this.#budget?.pledge(this.#runId, pledged);
    this.#person?.pledge(this.#runId, pledged);
    this.#underWay += credits;
    this.#person?.send(credits);
  }

  sent(committed: boolean): void {
    this.#person?.sent(this.#underWay, committed);
    this.#underWay = 0;
  }

  /** Releases everything: this process no longer executes the run. */
  drop(): void {
    for (const step of this.#reserving) this.release(step);
    this.#budget?.pledge(this.#runId, 0);
    this.#person?.pledge(this.#runId, 0);
  }

  #key(step: string): string {
    return `${this.#runId}/${step}`;
  }
}

const overBudget = () => ({ code: BUDGET_SPENT, message: 'The run would spend more than its budget.' });
