import { unavailable } from '../../platform/errors.ts';
import type { Logger } from '../../platform/logger.ts';
import { GraphCache } from '../executors/embedded/graph-cache.ts';
import { Hub } from '../executors/embedded/hub.ts';
import { recoverRuns } from '../executors/embedded/recovery.ts';
import type { RuntimeServices } from '../executors/embedded/runtime-services.ts';
import type { LogReader, WriterLimits } from '../log/index.ts';
import { simulatedCredits } from './economy.ts';
import { ObservedRuntime } from './observed-runtime.ts';
import { type Postgres, Session } from './postgres.ts';
import { loadVersionOf, simulatedReader } from './reader.ts';
import { type Listener, watchStream } from './stream.ts';
import type { Surroundings } from './surroundings.ts';
import type { Work } from './work.ts';

/** Wall clock at the beginning of a simulation. */
export const EPOCH = Date.UTC(2026, 0, 1);

export type ServerConfig = RuntimeServices['config'] & { writerLimits: WriterLimits };

/** What the runtime says of itself only where something is amiss that nobody outside caused. */
const DEFECTS = /because of a defect/;

/**
 * One process: the real runtime, led as embedded-orchestrator.ts leads it, with everything it touches simulated. What it
 * holds is lost when it dies: from then on nothing reaches it and nothing comes out of it.
 */
export class Server {
  readonly name: string;
  readonly at: Surroundings;
  readonly postgres: Postgres;
  readonly work: Work;
  readonly config: ServerConfig;
  status: 'starting' | 'leading' | 'stopping' | 'dead' = 'starting';
  runtime: ObservedRuntime | null = null;
  session: Session | null = null;
  readonly reader: LogReader;
  readonly stream: Listener;
  readonly #graphs: GraphCache;
  readonly #hub: Hub;
  readonly #logger: Logger;
  readonly onDeath: (server: Server) => void;
  #frozenUntil = 0;
  readonly #mourners: (() => void)[] = [];
  /** Dies at the seam that brings this to zero. */
  #fuse = Number.POSITIVE_INFINITY;
  #skewMs = 0;
  #stoppedAt: number | null = null;

  constructor(
    name: string,
    of: { at: Surroundings; postgres: Postgres; work: Work; config: ServerConfig; onDeath: (server: Server) => void },
  ) {
    this.name = name;
    this.at = of.at;
    this.postgres = of.postgres;
    this.work = of.work;
    this.config = of.config;
    this.onDeath = of.onDeath;
    this.#logger = this.#listeningLogger();
    this.reader = simulatedReader(of.postgres.database, this, of.at);
    this.#graphs = new GraphCache(loadVersionOf(this, of.at));
    this.#hub = new Hub(this.#logger);
    this.stream = watchStream(this, this.#hub);
    this.#lead();
  }

  get alive(): boolean {
    return this.status !== 'dead';
  }

  /** Leads, by what it knows itself. */
  get leads(): boolean {
    return this.status === 'leading' && this.runtime !== null;
  }

  get holdsLock(): boolean {
    return this.session !== null && this.postgres.holder === this.session;
  }

  /** Wall clock of this process, ms. */
  now(): number {
    return EPOCH + (this.#stoppedAt ?? this.at.agenda.now) + this.#skewMs;
  }

  /** Something that reaches this process in `delayMs`, if it is still there; a frozen one gets it when it thaws. */
  later(delayMs: number, act: () => void): () => void {
    let cancel = this.at.agenda.after(delayMs, () => {
      if (!this.alive) return;
      if (this.at.agenda.now < this.#frozenUntil) cancel = this.later(this.#frozenUntil - this.at.agenda.now, act);
      else act();
    });
    return () => cancel();
  }

  /** Passed wherever something leaves the process; false: it has died right before that. */
  seam(): boolean {
    if (!this.alive) return false;
    this.#fuse -= 1;
    if (this.#fuse > 0) return true;
    this.at.count('crash at a seam');
    this.die();
    return false;
  }

  /** Calls back when this process dies. */
  whenDead(act: () => void): void {
    this.#mourners.push(act);
  }

  lightFuse(seams: number): void {
    this.#fuse = seams;
  }

  /** kill -9. */
  die(): void {
    if (!this.alive) return;
    this.status = 'dead';
    this.runtime?.died();
    const { session, at } = this;
    // Its statement under way may still be finished; a machine that is gone keeps its session for longer.
    if (session !== null)
      at.agenda.after(at.random.below(at.random.chance(0.2) ? 2_000 : 20), () => this.postgres.end(session));
    this.work.gone(this);
    for (const mourn of this.#mourners.splice(0)) mourn();
    this.onDeath(this);
  }

  /** Stands still, as under SIGSTOP or a long pause of the event loop. */
  freeze(ms: number): void {
    this.at.count('frozen process');
    this.#frozenUntil = this.at.agenda.now + ms;
  }

  setClock(byMs: number): void {
    this.at.count(byMs < 0 ? 'clock set back' : 'clock set forward');
    // Set forward, it is the next process whose clock seems to have gone back.
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

  /** SIGTERM: what EmbeddedOrchestrator.close() does. */
  async close(): Promise<void> {
    if (!this.alive || this.status === 'stopping') return;
    this.status = 'stopping';
    this.at.count('graceful shutdown');
    const startedAt = this.at.agenda.now;
    if (this.work.executingOn(this).length > 0) this.at.count('graceful shutdown with work in flight');
    await this.runtime?.close(this.config.shutdownGraceMs);
    if (!this.alive) return;
    this.at.check(() => this.runtime?.checkClosed(startedAt));
    this.session?.break(new Error('closed'));
    if (this.alive) this.die();
  }

  /** What a caller gets who reaches a process that does not lead. */
  leading(): ObservedRuntime {
    if (this.runtime === null || this.status !== 'leading') throw unavailable('not_leading', 'does not lead', 2);
    return this.runtime;
  }

  /** From the wait for the lock to the loss of the session, and again. */
  #lead(): void {
    if (this.status === 'stopping') return;
    const session = new Session(this.postgres, this, () => this.later(0, () => this.#over(session)));
    this.session = session;
    this.postgres.lock(session, () => {
      const active = this.reader.countActiveRuns();
      active.then(
        ({ byTenant }) => this.#begin(session, byTenant),
        error => session.break(error),
      );
    });
  }

  #begin(session: Session, counts: ReadonlyMap<string, number>): void {
    if (this.session !== session || this.status === 'stopping' || !this.alive) return;
    const runtime = new ObservedRuntime(this, this.#services(), session);
    runtime.setActiveRuns(counts);
    this.runtime = runtime;
    this.status = 'leading';
    this.at.count('takeover');
    this.#recover(runtime);
  }

  #recover(runtime: ObservedRuntime): void {
    const signal = runtime.over.signal;
    recoverRuns(this.reader, runtime, signal).catch(() => {
      if (!signal.aborted) this.later(1_000, () => this.#recover(runtime));
    });
  }

  #over(session: Session): void {
    if (this.session !== session) return;
    this.session = null;
    const { runtime } = this;
    this.runtime = null;
    if (this.status !== 'stopping') this.status = 'starting';
    if (runtime !== null) {
      runtime.over.abort();
      runtime.abandon(new Error('the session of the leader ended'));
      this.#hub.interrupt();
    }
    this.later(50, () => this.#lead());
  }

  #services(): RuntimeServices {
    const { at } = this;
    return {
      reader: this.reader,
      clock: { now: () => this.now() },
      alarm: (delayMs, ring) => this.later(Math.ceil(delayMs), ring),
      logger: this.#logger,
      stepTypes: this.work.typesOn(this),
      config: this.config,
      random: () => at.random.next(),
      defer: callback => void this.later(at.random.below(2), callback),
      graphs: this.#graphs,
      hub: this.#hub,
      writerLimits: this.config.writerLimits,
      credits: simulatedCredits(this.postgres.database, this, at),
    };
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
