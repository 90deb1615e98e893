import { Fifo } from '../../../platform/fifo.ts';
import type { RuntimeServices } from '../runtime-services.ts';

/** While other tenants are present, such work gets a fifth of the event loop. */
const REST_FACTOR = 4;
/** Where each of many tenants has more to do than a quantum, their common turn takes longer: little is left unused. */
const MAX_REST_MS = 20;

type Services = Pick<RuntimeServices, 'clock' | 'alarm' | 'defer'>;

/**
 * Gives work that takes milliseconds a turn of the event loop that no other such work shares. While more than one tenant
 * is present, the loop then rests from it for four times as long as the turn took. A run of another tenant needs some 15
 * turns, one after the other; where it waited for such work in each of them, it took eight times as long
 * (docs/adr/0033-rests-of-the-event-loop.md).
 */
export class PacedTurns {
  readonly #services: Services;
  readonly #isShared: () => boolean;
  readonly #first = new Fifo<() => void>();
  readonly #others = new Fifo<() => void>();
  #isBusy = false;

  constructor({ clock, alarm, defer }: Services, isShared: () => boolean) {
    this.#services = { clock, alarm, defer };
    this.#isShared = isShared;
  }

  /** Calls back in a turn of its own. `isFirst`: before the turns that are not. */
  next(act: () => void, isFirst = false): void {
    (isFirst ? this.#first : this.#others).push(act);
    if (this.#isBusy) return;
    this.#isBusy = true;
    this.#services.defer(() => this.#turn());
  }

  #turn(): void {
    const act = this.#first.shift() ?? this.#others.shift();
    if (act === undefined) {
      this.#isBusy = false;
      return;
    }
    const began = this.#services.clock.now();
    act();
    // Runs after the work that settles a promise in this turn.
    this.#services.defer(() => this.#rest(this.#services.clock.now() - began));
  }

  #rest(tookMs: number): void {
    if (!this.#isShared()) {
      this.#turn();
      return;
    }
    const restMs = Math.max(1, Math.min(MAX_REST_MS, REST_FACTOR * tookMs));
    this.#services.alarm(restMs, () => this.#turn());
  }
}
