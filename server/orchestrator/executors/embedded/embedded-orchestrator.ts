import { setTimeout as delay } from 'node:timers/promises';
import type { Pool } from 'pg';
import type { Config } from '../../../config.ts';
import type { Clock } from '../../../platform/clock.ts';
import { unavailable } from '../../../platform/errors.ts';
import type { Logger } from '../../../platform/logger.ts';
import type { Command } from '../../core/index.ts';
import type { CreditSource } from '../../credits.ts';
import { createLogReader, type LogReader, type WriterLimits } from '../../log/index.ts';
import { type OrchestratorLoad, type OrchestratorObserver, unobserved } from '../../observer.ts';
import type { Orchestrator, OrchestratorStatus, RunRef, RunSnapshot } from '../../orchestrator.ts';
import type { StepTypes } from '../../steps/registry.ts';
import { GraphCache, type LoadVersion, loadVersionFrom } from './graph-cache.ts';
import { Hub } from './hub.ts';
import { LEADER_LOCK, type LeaderSession, lead } from './leadership.ts';
import { IDLE } from './load.ts';
import { recoverRuns } from './recovery.ts';
import { Runtime } from './runtime.ts';
import { type Alarm, systemAlarm } from './timers.ts';

export type EmbeddedOrchestratorOptions = {
  /** For reading; shared with the rest of the process. */
  pool: Pool;
  /** For the one session that holds the leader's lock and writes the log; not through a transaction pooler. */
  connectionString: string;
  clock: Clock;
  logger: Logger;
  stepTypes: StepTypes;
  config: Config['orchestrator'];
  /** Default: `workflow_versions`. */
  loadVersion?: LoadVersion;
  /** 0..1, for the jitter of retries; default Math.random. */
  random?: () => number;
  /** What waits in real time; default setTimeout. */
  alarm?: Alarm;
  writerLimits?: WriterLimits;
  /** The advisory lock's key: processes with different keys do not see each other. */
  lock?: number;
  /** Default: nobody watches. */
  observer?: OrchestratorObserver;
  /** Default: everything is free. */
  credits?: CreditSource;
  /**
   * Called each time this process holds the leader's lock, before it reads or runs anything. Where it throws, the process
   * does not lead: it releases the lock, `unavailableReason()` is the error's message, and it tries again later. The
   * message is shown by `/readyz` without authentication. `signal` aborts when the process stops.
   */
  beforeLeading?: (signal: AbortSignal) => Promise<void>;
};

export type EmbeddedOrchestrator = Orchestrator & {
  /** Settles as soon as this process knows where it stands: leading (and serving), or standby. */
  readonly ready: Promise<void>;
  /** Settles when the runs found at the latest take-over are taken up; null while not leading. */
  readonly recovered: Promise<{ recovered: number }> | null;
  /** Runs in memory. */
  readonly liveRuns: number;
  /** How much there is to do; nothing while not leading. Costs O(runs in memory). */
  load(): OrchestratorLoad;
  /**
   * Graceful shutdown: refuses commands, lets attempts in flight finish for up to `shutdownGraceMs`, writes what is to be
   * written and releases the lock. What did not finish is begun again by the next leader.
   */
  close(): Promise<void>;
};

/** Reconnecting: at once, then ever more slowly up to this. */
const MAX_BACKOFF_MS = 2_000;

/** The default executor (engine.md): one process leads and runs everything in memory, backed by the log. Starts at once. */
export function createEmbeddedOrchestrator(options: EmbeddedOrchestratorOptions): EmbeddedOrchestrator {
  return new Embedded(options);
}

class Embedded implements EmbeddedOrchestrator {
  readonly ready: Promise<void>;
  recovered: Promise<{ recovered: number }> | null = null;
  readonly #options: EmbeddedOrchestratorOptions;
  readonly #observer: OrchestratorObserver;
  readonly #reader: LogReader;
  readonly #hub: Hub;
  readonly #graphs: GraphCache;
  readonly #closing = new AbortController();
  readonly #stopped: Promise<void>;
  #closed: Promise<void> | null = null;
  #status: OrchestratorStatus = 'starting';
  #reason: string | null = null;
  #runtime: Runtime | null = null;
  #session: LeaderSession | null = null;
  /** Of the last leadership; it may still be reading when that is over. */
  #recovery: Promise<unknown> = Promise.resolve();
  #markReady: () => void;

  constructor(options: EmbeddedOrchestratorOptions) {
    this.#options = options;
    this.#observer = options.observer ?? unobserved;
    this.#reader = createLogReader(options.pool);
    this.#hub = new Hub(options.logger);
    this.#graphs = new GraphCache(options.loadVersion ?? loadVersionFrom(options.pool));
    const { promise, resolve } = Promise.withResolvers<void>();
    this.ready = promise;
    this.#markReady = resolve;
    this.#stopped = this.#live();
  }

  get liveRuns(): number {
    return this.#runtime?.liveRuns ?? 0;
  }

  load(): OrchestratorLoad {
    return { status: this.#status, ...(this.#runtime?.load() ?? IDLE) };
  }

  status(): OrchestratorStatus {
    return this.#status;
  }

  unavailableReason(): string | null {
    return this.#status === 'unavailable' ? this.#reason : null;
  }

  start: Orchestrator['start'] = async run => this.#leading().start(run);

  command: Orchestrator['command'] = async (ref, command) => this.#leading().command(ref, command);

  completeTask: Orchestrator['completeTask'] = async (ref: RunRef, answer) => {
    const command: Command = { type: 'complete_task', ...answer };
    await (this.#leading().command(ref, command) satisfies Promise<RunSnapshot>);
  };

  reject: Orchestrator['reject'] = async rejected => {
    this.#leading();
    const { runId, tenantId, projectId, workflowId, code, message, at } = rejected;
    await this.#options.pool.query(
      `INSERT INTO run_rejections (run_id, tenant_id, project_id, workflow_id, code, message, created_at)
       VALUES ($1, $2, $3, $4, $5, $6, to_timestamp($7::float8 / 1000)) ON CONFLICT (run_id) DO NOTHING`,
      [runId, tenantId, projectId, workflowId, code, message, at],
    );
    this.#hub.publish([{ kind: 'rejected', item: rejected }]);
  };

  creditsChanged: Orchestrator['creditsChanged'] = tenantId => this.#runtime?.meter.changed(tenantId);

  subscribe: Orchestrator['subscribe'] = (...subscription) => this.#hub.subscribe(...subscription);

  close(): Promise<void> {
    this.#closed ??= this.#close();
    return this.#closed;
  }

  async #close(): Promise<void> {
    this.#status = 'stopping';
    await this.#runtime?.close(this.#options.config.shutdownGraceMs);
    this.#closing.abort();
    await this.#session?.release();
    await this.#stopped;
    // The pool is closed next: nobody may hold a connection of it any more.
    await this.#recovery;
    this.#status = 'stopped';
    this.#markReady();
  }

  #leading(): Runtime {
    if (this.#runtime === null || this.#status !== 'leading')
      throw unavailable('not_leading', `This server does not lead: it is ${this.#status}.`, 2);
    return this.#runtime;
  }

  /** Leads whenever it may, until closed. */
  async #live(): Promise<void> {
    let failures = 0;
    while (!this.#closing.signal.aborted) {
      try {
        await this.#leadOnce(() => {
          failures = 0;
        });
      } catch (error) {
        if (this.#closing.signal.aborted) return;
        this.#options.logger.warn({ err: error }, 'the orchestrator cannot lead; trying again');
      }
      if (this.#closing.signal.aborted) return;
      this.#become('unavailable');
      failures += 1;
      const wait = Math.min(MAX_BACKOFF_MS, 50 * 2 ** failures);
      await delay(wait, undefined, { signal: this.#closing.signal }).catch(() => undefined);
    }
  }

  /** From the wait for the lock to the loss of the session. */
  async #leadOnce(onLeading: () => void): Promise<void> {
    const { connectionString, lock = LEADER_LOCK, logger } = this.#options;
    const session = await lead({
      connectionString,
      lock,
      signal: this.#closing.signal,
      onStandby: () => this.#become('standby'),
    });
    const over = new AbortController();
    const runtime = this.#newRuntime(session);
    try {
      await this.#options.beforeLeading?.(this.#closing.signal).catch((error: unknown) => {
        this.#reason = error instanceof Error ? error.message : String(error);
        throw error;
      });
      this.#reason = null;
      const active = await this.#reader.countActiveRuns();
      runtime.setActiveRuns(active.byTenant);
      this.#observer.leadershipTaken(active.byStatus);
      this.#session = session;
      this.#runtime = runtime;
      this.#become('leading');
      onLeading();
      this.recovered = this.#recover(runtime, over.signal);
      this.#recovery = this.recovered;
      const cause = await session.lost;
      if (this.#status !== 'stopping') logger.error({ err: cause }, 'the orchestrator lost its database session');
    } finally {
      over.abort();
      this.#runtime = null;
      this.#session = null;
      this.recovered = null;
      runtime.abandon(new Error('the session of the leader ended'));
      session.break(new Error('no longer leading'));
      // A commit whose answer was lost with the session is in the log, and nobody was told of its events.
      this.#hub.interrupt();
    }
  }

  #newRuntime(session: LeaderSession): Runtime {
    const { clock, logger, stepTypes, config, random, alarm, writerLimits, credits } = this.#options;
    const services = {
      reader: this.#reader,
      clock,
      alarm: alarm ?? systemAlarm,
      logger,
      stepTypes,
      config,
      random: random ?? Math.random,
      defer: setImmediate,
      graphs: this.#graphs,
      hub: this.#hub,
      writerLimits,
      observer: this.#observer,
      credits,
    };
    return new Runtime(services, session, cause => session.break(cause));
  }

  /** In the background, again and again until all are taken up: a run must not be forgotten because a read failed. */
  async #recover(runtime: Runtime, signal: AbortSignal): Promise<{ recovered: number }> {
    const began = performance.now();
    this.#observer.recoveryBegan();
    for (;;) {
      try {
        const result = await recoverRuns(this.#reader, runtime, signal);
        if (!signal.aborted) this.#observer.recoveryEnded(result.recovered, performance.now() - began);
        if (result.recovered > 0 && !signal.aborted) this.#options.logger.info(result, 'runs taken up');
        return result;
      } catch (error) {
        if (signal.aborted) return { recovered: 0 };
        this.#options.logger.error({ err: error }, 'taking up runs failed; trying again');
        await delay(1_000, undefined, { signal }).catch(() => undefined);
      }
    }
  }

  #become(status: OrchestratorStatus): void {
    if (this.#status === 'stopping' || this.#status === status) return;
    this.#options.logger.info({ status }, 'orchestrator');
    this.#status = status;
    this.#observer.statusChanged(status);
    if (status === 'leading' || status === 'standby') this.#markReady();
  }
}
