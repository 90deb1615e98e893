import type { Server } from '../server.ts';
import type { Session } from '../session.ts';
import type { Surroundings } from '../surroundings.ts';

/**
 * By then a leader knows that another one has taken over: it received an error, a check showed it, or
 * three checks were not answered.
 */
const STEPS_DOWN_WITHIN_MS = 11_000;
/** A leader whose session worked for this long may next wait a short time again. */
const STEADY_MS = 59_000;
/** The longest wait that is expected here; the real maximum is longer. */
const MAX_WAIT_MS = 5_000;

type Leadership = { session: Session; at: number; fruitless: number };

/** Watches which process starts to lead, on which session, and how soon after its last leadership. */
export class LeadershipWatch {
  readonly #at: Surroundings;
  readonly #last = new Map<Server, Leadership>();
  #twoSince: number | null = null;

  constructor(at: Surroundings) {
    this.#at = at;
  }

  /** Call this when a process has met all conditions for leading and is about to lead. */
  begins(server: Server): void {
    const { session } = server;
    const { now } = this.#at.agenda;
    if (session === null) return;
    if (server.postgres.readOnly && session.readOnlyWhenLocked)
      this.#at.fail('leadership', `${server.name} leads a database that cannot be written`);
    const last = this.#last.get(server);
    const isFruitless = last !== undefined && !last.session.committed && now - last.at < STEADY_MS;
    const fruitless = isFruitless ? last.fruitless + 1 : 0;
    this.#last.set(server, { session, at: now, fruitless });
    if (fruitless > 2) this.#at.count('led again and again in vain');
    const wait = Math.min(MAX_WAIT_MS, 50 * 2 ** fruitless);
    if (last !== undefined && fruitless > 0 && now - last.at < wait)
      this.#at.fail('leadership', `${server.name} leads again after ${now - last.at} ms, ${fruitless} times in vain`);
  }

  /** Checks that no two processes lead at the same time, without knowing of each other, for too long. */
  check(servers: readonly Server[]): void {
    const leading = servers.filter(server => server.leads && !server.isFrozen);
    const { now } = this.#at.agenda;
    if (leading.length < 2 || this.#at.twoLed) {
      this.#twoSince = null;
      return;
    }
    if (this.#twoSince === null) this.#at.count('two lead for a moment');
    this.#twoSince ??= now;
    if (now - this.#twoSince > STEPS_DOWN_WITHIN_MS)
      this.#at.fail('leadership', `${leading.map(({ name }) => name)} lead at the same time`);
  }
}
