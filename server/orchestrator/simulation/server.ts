import type { Logger } from '../../platform/logger.ts';
import type { LogReader, WriterLimits } from '../log/index.ts';
import { Embedded } from '../runtime/embedded-orchestrator.ts';
import type { LeaderSession } from '../runtime/leadership/leadership.ts';
import type { AheadLimits } from '../runtime/runs/steps-ahead.ts';
import type { RuntimeServices } from '../runtime/runtime-services.ts';
import type { LeadershipWatch } from './checkers/leadership.ts';
import { simulatedCredits } from './economy.ts';
import { ServerTerms } from './leader-terms.ts';
import { simulatedJournal } from './load-journal.ts';
import { ObservedRuntime } from './observed-runtime.ts';
import type { Postgres } from './postgres.ts';
import { loadVersionOf, QUERY_TIMEOUT_MS, simulatedReader } from './reader.ts';
import { Session } from './session.ts';
import { type Listener, watchStream } from './stream.ts';
import type { Surroundings } from './surroundings.ts';
import type { Topology } from './topology.ts';
import type { Work } from './work.ts';

/** The wall clock at the start of a simulation. */
export const EPOCH = Date.UTC(2026, 0, 1);

export type ServerConfig = RuntimeServices['config'] & {
  writerLimits: WriterLimits;
  ahead: Omit<AheadLimits, 'stopwatch'>;
};

/** Log lines of the runtime that only a defect can cause. */
const DEFECTS = /because of a defect/;
/**
 * The time that a shutdown may take beyond its grace period: the last commits, the release of the lock, a read of the
 * pool, and slow statements in between.
 */
const SHUTDOWN_MS = 5_000 + 2_000 + QUERY_TIMEOUT_MS + 2_000;

/**
 * One process: the real orchestrator, with all its dependencies simulated. When it dies, it loses its memory, and from
 * then on receives and sends nothing.
 */
export class Server {
  readonly name: string;
  readonly at: Surroundings;
  readonly postgres: Postgres;
  readonly work: Work;
  readonly config: ServerConfig;
  /** The cluster whose node this process is, or null where it leads alone. */
  readonly topology: Topology | null;
  readonly orchestrator: Embedded;
  /** Whether the database has failed to tell it that a run exists. */
  missedLookup = false;
  /** The connection that was last opened for leading. */
  session: Session | null = null;
  readonly reader: LogReader;
  readonly terms: ServerTerms;
  readonly stream: Listener;
  readonly onDeath: (server: Server) => void;
  /** The time that evaluating steps has taken, in ms; the virtual clock stands still meanwhile. */
  evaluatingMs = 0;
  #runtime: ObservedRuntime | null = null;
  #isDead = false;
  #isStopping = false;
  #frozenUntil = 0;
  /** The total time for which it was frozen. */
  #frozenMs = 0;
  #poolDownUntil = 0;
  #connectsInVainUntil = 0;
  readonly #onDeath: (() => void)[] = [];
  /** The number of seams until the process dies. */
  #seamsUntilCrash = Number.POSITIVE_INFINITY;
  #skewMs = 0;
  #stoppedAt: number | null = null;

  constructor(
    name: string,
    of: {
      at: Surroundings;
      postgres: Postgres;
      work: Work;
      config: ServerConfig;
      topology: Topology | null;
      leadership: LeadershipWatch;
      onDeath: (server: Server) => void;
    },
  ) {
    this.name = name;
    this.at = of.at;
    this.postgres = of.postgres;
    this.work = of.work;
    this.config = of.config;
    this.topology = of.topology;
    this.onDeath = of.onDeath;
    this.reader = simulatedReader(of.postgres.database, this, of.at);
    this.terms = new ServerTerms(of.postgres.database.terms, this, of.at);
    this.orchestrator = this.#start(of.leadership);
    this.stream = watchStream(this, this.orchestrator);
  }

  get alive(): boolean {
    return !this.#isDead;
  }

  get isStopping(): boolean {
    return this.#isStopping;
  }

  get isFrozen(): boolean {
    return this.at.agenda.now < this.#frozenUntil;
  }

  /** Whether it leads according to its own knowledge. */
  get leads(): boolean {
    return !this.#isDead && this.orchestrator.status() === 'leading';
  }

  /** Whether it executes the runs of the workspace, according to its own knowledge. */
  leadsTenant(tenantId: string): boolean {
    return this.leads && this.#runtime?.executes(tenantId) === true;
  }

  get runtime(): ObservedRuntime | null {
    return this.leads ? this.#runtime : null;
  }

  /** The last runtime, also while it begins to lead. */
  get anyRuntime(): ObservedRuntime | null {
    return this.#runtime;
  }

  /** Whether the database holds the lock for it under which the runs of the workspace are written. */
  holdsFor(tenantId: string): boolean {
    return this.postgres.holdsFor(this.session, tenantId);
  }

  get holdsLock(): boolean {
    return this.postgres.holds(this.session);
  }

  /** Whether it leads, without a fault that would later keep it from continuing. */
  get leadsWell(): boolean {
    return this.leads && !this.isFrozen && this.holdsLock && this.session?.healthy === true;
  }

  /** For how much longer its pool cannot reach the database, ms. */
  get poolDownMs(): number {
    return this.#poolDownUntil - this.at.agenda.now;
  }

  get connectsInVain(): boolean {
    return this.at.agenda.now < this.#connectsInVainUntil;
  }

  wasFrozenSince(at: number): boolean {
    return this.#frozenUntil > at;
  }

  /** The wall clock of this process, ms. */
  now(): number {
    return EPOCH + (this.#stoppedAt ?? this.at.agenda.now) + this.#skewMs;
  }

  /** Calls `act` in `delayMs` if the process is still alive; a frozen process gets it when it thaws. */
  later(delayMs: number, act: () => void, background = false): () => void {
    let cancel = this.at.agenda.after(
      delayMs,
      () => {
        if (!this.alive) return;
        if (this.isFrozen) cancel = this.later(this.#frozenUntil - this.at.agenda.now, act, background);
        else act();
      },
      background,
    );
    return () => cancel();
  }

  /** Call this at every point where something leaves the process. Returns false if the process has just died. */
  seam(): boolean {
    if (!this.alive) return false;
    this.#seamsUntilCrash -= 1;
    if (this.#seamsUntilCrash > 0) return true;
    this.at.count('crash at a seam');
    this.die();
    return false;
  }

  /** Calls back when this process dies. */
  whenDead(act: () => void): void {
    this.#onDeath.push(act);
  }

  crashAfter(seams: number): void {
    this.#seamsUntilCrash = seams;
  }

  /** kill -9. */
  die(): void {
    if (!this.alive) return;
    this.terms.died(this.#isStopping);
    this.#isDead = true;
    const { session, at } = this;
    // Its statement in flight may still be finished; a machine that is gone keeps its session for longer.
    if (session !== null && !session.isSilent)
      at.agenda.after(at.random.below(at.random.chance(0.2) ? 2_000 : 20), () => this.postgres.end(session));
    this.work.gone(this);
    for (const act of this.#onDeath.splice(0)) act();
    this.onDeath(this);
  }

  /** Freezes the process, as SIGSTOP or a long pause of the event loop would. */
  freeze(ms: number): void {
    this.at.count('frozen process');
    this.#frozenUntil = Math.max(this.#frozenUntil, this.at.agenda.now + ms);
    this.#frozenMs += ms;
  }

  /** Drops all traffic of its session, its pool, or both, and new connections, for a while. */
  partition(of: { session: boolean; pool: boolean }, ms: number): void {
    const { agenda } = this.at;
    if (of.session) {
      this.at.count('session goes silent');
      this.session?.silence();
      this.#connectsInVainUntil = agenda.now + ms;
    }
    if (of.pool) this.#poolDownUntil = agenda.now + ms;
  }

  heal(): void {
    this.#poolDownUntil = 0;
    this.#connectsInVainUntil = 0;
  }

  setClock(byMs: number): void {
    this.at.count(byMs < 0 ? 'clock set back' : 'clock set forward');
    // After the clock is set forward, it seems to have gone back for the next process.
    this.at.timeWentBack = true;
    this.#skewMs += byMs;
  }

  stopClock(ms: number): void {
    this.at.count('clock stands still');
    this.at.timeWentBack = true;
    this.#stoppedAt ??= this.at.agenda.now;
    this.at.agenda.after(ms, () => {
      this.#stoppedAt = null;
    });
  }

  /** SIGTERM. */
  async close(): Promise<void> {
    if (!this.alive || this.#isStopping) return;
    this.#isStopping = true;
    this.at.count(this.leads ? 'graceful shutdown' : 'shutdown of a process that does not lead');
    if (!this.leads && this.holdsLock) this.at.count('shutdown in the middle of a takeover');
    if (this.work.executingOn(this).length > 0) this.at.count('graceful shutdown with work in flight');
    const frozen = this.isFrozen ? -1 : this.#frozenMs;
    const most = this.config.shutdownGraceMs + SHUTDOWN_MS;
    const overdue = () => {
      if (this.#frozenMs !== frozen) return;
      this.at.fail('shutdown', `${this.name} has not stopped ${most} ms after it was told to`);
    };
    this.later(most, overdue, true);
    await this.orchestrator.close();
    if (!this.alive) return;
    this.terms.leftInOrder();
    this.die();
  }

  #start(leadership: LeadershipWatch): Embedded {
    const { at } = this;
    return new Embedded({
      // Not used: the ports below replace both.
      pool: {} as never,
      ...(this.topology === null ? {} : { cluster: this.topology.seenBy(this, this.postgres) }),
      connectionString: '',
      clock: { now: () => this.now() },
      alarm: (delayMs, ring) => this.later(Math.ceil(delayMs), ring),
      logger: this.#listeningLogger(),
      stepTypes: this.work.typesOn(this),
      config: this.config,
      loadVersion: loadVersionOf(this, at),
      random: () => at.random.next(),
      writerLimits: this.config.writerLimits,
      credits: simulatedCredits(this.postgres.database, this, at),
      ports: {
        reader: this.reader,
        terms: this.terms,
        journal: simulatedJournal(this.postgres.database, this, at),
        alarm: (delayMs, ring) => this.later(Math.ceil(delayMs), ring, true),
        defer: callback => void this.later(at.random.below(2), callback),
        connect: () => {
          this.session = new Session(this.postgres, this);
          return this.session;
        },
        createRuntime: (services, session) => this.#createRuntime(services, session, leadership),
      },
    });
  }

  #createRuntime(services: RuntimeServices, session: LeaderSession, leadership: LeadershipWatch): ObservedRuntime {
    this.at.count('takeover');
    leadership.begins(this);
    void session.lost.then(() => {
      if (this.alive) this.terms.outlived();
    });
    const ahead = { ...this.config.ahead, stopwatch: () => this.evaluatingMs };
    this.#runtime = new ObservedRuntime(this, { ...services, ahead }, session);
    return this.#runtime;
  }

  #listeningLogger(): Logger {
    const ignore = () => {};
    const error = (details: { err?: unknown }, message: string) => {
      if (DEFECTS.test(message) && this.alive)
        this.at.fail('defect', `${message}: ${details.err instanceof Error ? details.err.stack : details.err}`);
    };
    return { error, warn: ignore, info: ignore, debug: ignore } as unknown as Logger;
  }
}
