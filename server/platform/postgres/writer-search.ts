import { type Alarm, type Clock, systemAlarm, systemClock } from '../clock.ts';
import { type ListedServer, serverName } from './server-list.ts';
import { reason } from './startup-error.ts';

/** A server's own answer. */
export type Standing = {
  writes: boolean;
  isStandby: boolean;
  /** When it started, to the microsecond: the same for two names of one server. */
  started: string;
};

/** Asks one server. Rejects where it cannot be reached, or does not answer soon. */
export type Probe = (server: ListedServer) => Promise<Standing>;

type Answer = { server: ListedServer } & ({ standing: Standing } | { error: unknown });
type Writer = { server: ListedServer; started: string };

/** For this long, a server that could write is taken to be able to. Each connection asks once more when it is open. */
const FRESH_MS = 2_000;
/** The last good server answers alone if it does so within this time: a machine that swallows everything costs this much. */
const HEAD_START_MS = 250;
/** How long a search waits for the others once one server can write, to notice two that can. */
const GRACE_MS = 100;

/** No server of the list can be used. `summary` names none: everyone may read it. */
export class NoWriterError extends Error {
  readonly summary: string;
  constructor(summary: string, details: string) {
    super(`${summary.slice(0, -1)}: ${details}`);
    this.name = 'NoWriterError';
    this.summary = summary;
  }
}

/**
 * Knows which server of a list can write, for all connections of the process. It decides nothing about who is primary:
 * it asks, and refuses to choose where two servers say that they are, because one of them loses what it acknowledges.
 */
export class WriterSearch {
  readonly servers: readonly ListedServer[];
  readonly #probe: Probe;
  readonly #alarm: Alarm;
  readonly #clock: Clock;
  readonly #sessions = new Map<() => void, ListedServer>();
  readonly #listeners = new Set<(server: ListedServer, before: ListedServer) => void>();
  #last: ListedServer | undefined;
  #isDoubted = false;
  #verifiedAt = 0;
  #searching: Promise<ListedServer> | undefined;

  constructor(
    servers: readonly ListedServer[],
    probe: Probe,
    { alarm = systemAlarm, clock = systemClock }: { alarm?: Alarm; clock?: Clock } = {},
  ) {
    this.servers = servers;
    this.#probe = probe;
    this.#alarm = alarm;
    this.#clock = clock;
  }

  /** Returns the server that can write. Throws NoWriterError. */
  find(): Promise<ListedServer> {
    const age = this.#clock.now() - this.#verifiedAt;
    if (this.#last !== undefined && !this.#isDoubted && age >= 0 && age < FRESH_MS) return Promise.resolve(this.#last);
    this.#searching ??= this.#search().finally(() => {
      this.#searching = undefined;
    });
    return this.#searching;
  }

  /** A connection to this server failed or was lost: the next search asks all of them. */
  doubt(server: ListedServer): void {
    if (server === this.#last) this.#isDoubted = true;
  }

  /** Keeps `drop` until the returned function is called: it is called once another server is the one that can write. */
  join(server: ListedServer, drop: () => void): () => void {
    this.#sessions.set(drop, server);
    if (this.#last !== undefined && server !== this.#last) drop();
    return () => void this.#sessions.delete(drop);
  }

  /** Calls `listener` when another server than before is the one that can write. Returns a function that ends this. */
  onChange(listener: (server: ListedServer, before: ListedServer) => void): () => void {
    this.#listeners.add(listener);
    return () => void this.#listeners.delete(listener);
  }

  async #search(): Promise<ListedServer> {
    const last = this.#last;
    if (last !== undefined && !this.#isDoubted) {
      const answer = await this.#atMost(HEAD_START_MS, this.#ask(last));
      if (answer !== undefined && 'standing' in answer && answer.standing.writes) return this.#found(last);
    }
    const answers = await this.#askAll();
    const writers = answers.flatMap<Writer>(answer =>
      'standing' in answer && answer.standing.writes ? [{ ...answer, started: answer.standing.started }] : [],
    );
    const [first] = writers;
    if (first === undefined) throw noWriter(answers);
    const other = writers.find(({ started }) => started !== first.started);
    if (other !== undefined) throw twoWriters(first.server, other.server);
    // Of two names of one server the last good one is kept, so that no connection is dropped.
    return this.#found(writers.find(({ server }) => server === last)?.server ?? first.server);
  }

  #found(server: ListedServer): ListedServer {
    const before = this.#last;
    this.#last = server;
    this.#isDoubted = false;
    this.#verifiedAt = this.#clock.now();
    if (before !== undefined && before !== server) {
      for (const listener of this.#listeners) listener(server, before);
      for (const [drop, of] of [...this.#sessions]) if (of !== server) drop();
    }
    return server;
  }

  async #ask(server: ListedServer): Promise<Answer> {
    try {
      return { server, standing: await this.#probe(server) };
    } catch (error) {
      return { server, error };
    }
  }

  /** Asks all servers at once. Returns what was answered when all have, or shortly after one that can write has. */
  async #askAll(): Promise<Answer[]> {
    const answers: Answer[] = [];
    const found = Promise.withResolvers<void>();
    const all = this.servers.map(async server => {
      const answer = await this.#ask(server);
      answers.push(answer);
      if ('standing' in answer && answer.standing.writes) found.resolve();
    });
    await Promise.race([Promise.all(all), found.promise]);
    await this.#atMost(GRACE_MS, Promise.all(all));
    // In the order of the list, and no longer changed by those that answer late.
    return answers.toSorted((one, other) => this.servers.indexOf(one.server) - this.servers.indexOf(other.server));
  }

  #atMost<T>(ms: number, answer: Promise<T>): Promise<T | undefined> {
    return new Promise(resolve => {
      const cancel = this.#alarm(ms, () => resolve(undefined));
      void answer.then(value => {
        cancel();
        resolve(value);
      });
    });
  }
}

function noWriter(answers: readonly Answer[]): NoWriterError {
  const isReached = answers.some(answer => 'standing' in answer);
  const details = answers.map(answer => `${serverName(answer.server)} ${refusal(answer)}`).join('; ');
  return new NoWriterError(`None of the servers in DATABASE_URL ${isReached ? 'accepts writes' : 'answers'}.`, details);
}

function refusal(answer: Answer): string {
  if ('standing' in answer) return answer.standing.isStandby ? 'is a standby' : 'is set to read-only';
  const { error } = answer;
  return error instanceof AggregateError ? error.errors.map(reason).join(', ') : reason(error);
}

function twoWriters(one: ListedServer, other: ListedServer): NoWriterError {
  return new NoWriterError(
    'Two servers in DATABASE_URL accept writes.',
    `${serverName(one)} and ${serverName(other)}; stop the one that is no longer the primary`,
  );
}
