import { type Alarm, type Clock, systemAlarm, systemClock } from '../clock.ts';
import { type ListedServer, serverName } from './server-list.ts';
import { reason } from './startup-error.ts';

/** The answer of a server to a probe. */
export type Standing = {
  writes: boolean;
  isStandby: boolean;
  /** When it started, to the microsecond: the same for two names of one server. */
  started: string;
};

/** Asks one server for its standing. Rejects if the server is unreachable or too slow. */
export type Probe = (server: ListedServer) => Promise<Standing>;

type Answer = { server: ListedServer } & ({ standing: Standing } | { error: unknown });
type Writer = { server: ListedServer; started: string };

/** How long the result of a search is reused. Each new connection checks again whether its server can write. */
const FRESH_MS = 2_000;
/** How long a search waits for the last good server before it asks all servers. */
const HEAD_START_MS = 250;
/** How long a search waits for the other servers after one has answered that it can write, to notice a second one. */
const GRACE_MS = 100;

/** Thrown if no server of the list can be used. `summary` names no server, so everyone may read it. */
export class NoWriterError extends Error {
  readonly summary: string;
  constructor(summary: string, details: string) {
    super(`${summary.slice(0, -1)}: ${details}`);
    this.name = 'NoWriterError';
    this.summary = summary;
  }
}

/**
 * Finds the server of a list that can write, for all connections of the process. It does not decide which server is the
 * primary. If two servers accept writes, it refuses to choose: one of them will lose the writes that it acknowledges.
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

  /** Reports that a connection to this server failed or was lost, so that the next search asks all servers. */
  doubt(server: ListedServer): void {
    if (server === this.#last) this.#isDoubted = true;
  }

  /** Calls `drop` when another server becomes the one that can write. Returns a function that removes `drop`. */
  join(server: ListedServer, drop: () => void): () => void {
    this.#sessions.set(drop, server);
    if (this.#last !== undefined && server !== this.#last) drop();
    return () => void this.#sessions.delete(drop);
  }

  /** Calls `listener` when another server becomes the one that can write. Returns a function that removes it. */
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
    // If one server has two names, the last good name is kept, so that no connection is dropped.
    return this.#found(writers.find(({ server }) => server === last)?.server ?? first.server);
  }

  #found(server: ListedServer): ListedServer {
    const before = this.#last;
    this.#last = server;
    this.#isDoubted = false;
    this.#verifiedAt = this.#clock.now();
    if (before !== undefined && before !== server) {
      for (const listener of this.#listeners) listener(server, before);
      for (const [drop, sessionServer] of [...this.#sessions]) if (sessionServer !== server) drop();
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

  /** Asks all servers at once. Returns the answers when all have arrived, or GRACE_MS after one that can write. */
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
    // Returns a copy in the order of the list, which late answers do not change.
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
