import { TENANTS } from '../scenario.ts';
import type { Server } from '../server.ts';
import type { Session } from '../session.ts';
import type { Surroundings } from '../surroundings.ts';

/**
 * By this time a leader knows that another one has taken over, from an error, from a check, or from three unanswered
 * checks.
 */
const STEPS_DOWN_WITHIN_MS = 11_000;
/** A leader whose session worked for this long may wait only a short time again before its next attempt. */
const STEADY_MS = 59_000;
/** The maximum wait that is expected here; the real maximum is longer. */
const MAX_WAIT_MS = 5_000;

type Leadership = { session: Session; at: number; fruitless: number };

/** Watches which process becomes the leader, on which session, and how soon after its last leadership. */
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

  /** Checks that two processes do not lead at the same time, without knowing of each other, for too long. */
  check(servers: readonly Server[]): void {
    const leading = sameShard(servers.filter(server => server.leads && !server.isFrozen));
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

/** Returns the processes that lead the same shard; in a deployment without shards, all that lead. */
function sameShard(leading: readonly Server[]): readonly Server[] {
  const topology = leading[0]?.topology ?? null;
  if (topology === null) return leading;
  for (const tenantId of TENANTS) {
    const both = leading.filter(server => server.leadsTenant(tenantId));
    if (both.length > 1) return both;
  }
  return [];
}
