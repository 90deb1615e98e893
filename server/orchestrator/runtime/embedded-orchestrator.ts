import { randomUUID } from 'node:crypto';
import { systemAlarm } from '../../platform/clock.ts';
import { pause, within } from '../../platform/deadlines.ts';
import { unavailable } from '../../platform/errors.ts';
import type { Command } from '../core/index.ts';
import { createLoadJournal, createLogReader } from '../log/index.ts';
import { type OrchestratorLoad, type OrchestratorObserver, unobserved } from '../ports/observer.ts';
import type { Orchestrator, OrchestratorStatus, Owner, RunRef, RunSnapshot } from '../ports/orchestrator.ts';
import { ALL_SHARDS, type Shards, shardOf } from '../shards/slot.ts';
import { EventBroadcaster } from './event-broadcaster.ts';
import { Backoff, type LeadingEnd } from './leadership/backoff.ts';
import { postgresConnector } from './leadership/leader-connection.ts';
import { createLeaderTerms, type OwnTerm } from './leadership/leader-terms.ts';
import { acquireLeadership, CannotLeadError, type LeaderSession } from './leadership/leadership.ts';
import { LeadershipLog } from './leadership/leadership-log.ts';
import { Placement } from './leadership/placement.ts';
import { reasonOf } from './leadership/reason.ts';
import { IDLE } from './load.ts';
import type { EmbeddedOrchestratorOptions, OrchestratorPorts } from './orchestrator-options.ts';
import { GraphCache, loadVersionFrom } from './runs/graph-cache.ts';
import { prepareTake, recoverUntilDone } from './runs/recovery.ts';
import { movedElsewhere } from './runs/refusals.ts';
import { ShardExecutor } from './runs/shard-executor.ts';
import { Runtime } from './runtime.ts';
import type { RuntimeServices } from './runtime-services.ts';

export type EmbeddedOrchestrator = Orchestrator & {
  /** Settles as soon as this process either leads (and serves) or stands by. */
  readonly ready: Promise<void>;
  /** Settles when the runs found at the latest takeover are loaded; null while not leading. */
  readonly recovered: Promise<{ recovered: number }> | null;
  /** Runs in memory. */
  readonly liveRuns: number;
  /** How much there is to do; all zero while not leading. Costs O(runs in memory). */
  load(): OrchestratorLoad;
  /**
   * Graceful shutdown: refuses commands, lets attempts in flight finish for up to `shutdownGraceMs`, writes all pending
   * entries and releases the lock. The next leader starts unfinished attempts again. If the database does not answer,
   * it waits no longer than that grace plus the time limit of one read of the pool.
   */
  close(): Promise<void>;
};

/**
 * The longest that the time between acquiring the lock and leading may be: `beforeLeading`,
 * and counting the active runs.
 */
const PREPARATION_TIMEOUT_MS = 15_000;

/** The default executor: one process leads and runs everything in memory, backed by the log. Starts at once. */
export function createEmbeddedOrchestrator(options: EmbeddedOrchestratorOptions): EmbeddedOrchestrator {
  return new Embedded(options);
}

type Led = { runtime: Runtime; session: LeaderSession; signal: AbortSignal };

export class Embedded implements EmbeddedOrchestrator {
  readonly ready: Promise<void>;
  recovered: Promise<{ recovered: number }> | null = null;
  readonly #options: EmbeddedOrchestratorOptions;
  readonly #ports: OrchestratorPorts;
  readonly #observer: OrchestratorObserver;
  readonly #log: LeadershipLog;
  readonly #broadcaster: EventBroadcaster;
  readonly #graphs: GraphCache;
  readonly #backoff = new Backoff();
  readonly #closing = new AbortController();
  readonly #whenClosing: Promise<void>;
  readonly #stopped: Promise<void>;
  #closed: Promise<void> | null = null;
  #status: OrchestratorStatus = 'starting';
  #reason: string | null = null;
  #runtime: Runtime | null = null;
  /** The session of the runtime. */
  #session: LeaderSession | null = null;
  /** Reads of the pool that may still be in progress after the end of their leadership. */
  readonly #reads = new Set<Promise<unknown>>();
  #markReady: () => void;

  constructor(options: EmbeddedOrchestratorOptions) {
    this.#options = options;
    const { lock, synchronous, cluster } = options;
    const processId = cluster?.node.id ?? randomUUID();
    this.#ports = {
      reader: options.ports?.reader ?? createLogReader(options.pool),
      terms: options.ports?.terms ?? createLeaderTerms(options.pool, options.clock),
      journal: options.ports?.journal ?? createLoadJournal(options.pool, processId),
      connect:
        options.ports?.connect ??
        postgresConnector(options.connectionString, { lock, processId, synchronous, sharded: cluster !== undefined }),
      alarm: systemAlarm,
      defer: setImmediate,
      createRuntime: (services, session) => new Runtime(services, session, cause => session.break(cause)),
      ...options.ports,
    };
    this.#observer = options.observer ?? unobserved;
    this.#log = new LeadershipLog(options.logger);
    this.#broadcaster = new EventBroadcaster(options.logger);
    this.#graphs = new GraphCache(options.loadVersion ?? loadVersionFrom(options.pool));
    const { promise, resolve } = Promise.withResolvers<void>();
    this.ready = promise;
    this.#markReady = resolve;
    this.#whenClosing = new Promise(closing =>
      this.#closing.signal.addEventListener('abort', () => closing(), { once: true }),
    );
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

  leads(tenantId: string): boolean {
    return this.#isLeading() && this.#runtime?.executes(tenantId) === true;
  }

  ownerOf(tenantId: string): Owner {
    if (this.leads(tenantId)) return { kind: 'here' };
    const { cluster } = this.#options;
    const owner = cluster?.owner(shardOf(tenantId, cluster.shards)) ?? null;
    // What it saw of itself is from before.
    if (owner === null || owner.id === cluster?.node.id) return { kind: 'unknown' };
    return { kind: 'node', id: owner.id, url: owner.url };
  }

  leadsJobs(): boolean {
    return this.#isLeading() && (this.#options.cluster === undefined || this.#session?.shards.has(0) === true);
  }

  shards(): Shards {
    const { cluster } = this.#options;
    if (!this.#isLeading()) return { count: 1, led: new Set() };
    return cluster === undefined
      ? ALL_SHARDS
      : { count: cluster.shards, led: new Set(this.#runtime?.acceptingShards()) };
  }

  #isLeading(): boolean {
    return this.#status === 'leading' && this.#session?.isHeld() === true;
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
    if (!this.#leading().executes(rejected.tenantId)) throw movedElsewhere();
    const { runId, tenantId, projectId, workflowId, code, message, at } = rejected;
    await this.#options.pool.query(
      `INSERT INTO run_rejections (run_id, tenant_id, project_id, workflow_id, code, message, created_at)
       VALUES ($1, $2, $3, $4, $5, $6, to_timestamp($7::float8 / 1000)) ON CONFLICT (run_id) DO NOTHING`,
      [runId, tenantId, projectId, workflowId, code, message, at],
    );
    this.#broadcaster.publish([{ kind: 'rejected', item: rejected }]);
  };

  creditsChanged: Orchestrator['creditsChanged'] = tenantId => this.#runtime?.meter.changed(tenantId);

  /** A shard may have been given since the caller asked who leads: then nothing would arrive. */
  subscribe: Orchestrator['subscribe'] = (filter, listener, onInterrupted) => {
    const unsubscribe = this.#broadcaster.subscribe(filter, listener, onInterrupted);
    const isElsewhere = this.#options.cluster !== undefined && !this.leads(filter.tenantId);
    if (isElsewhere && onInterrupted !== undefined) queueMicrotask(onInterrupted);
    return unsubscribe;
  };

  close(): Promise<void> {
    this.#closed ??= this.#close();
    return this.#closed;
  }

  /** The session is not touched here: only #leadOnce uses it, at any moment of this call. */
  async #close(): Promise<void> {
    this.#status = 'stopping';
    // Before anything else: a supervisor may kill the process before the attempts have ended.
    this.#recordSurvival();
    this.#closing.abort();
    await this.#stopped;
    // The caller closes the pool next, so no read may hold one of its connections.
    await Promise.allSettled(this.#reads);
    this.#status = 'stopped';
    this.#markReady();
  }

  #leading(): Runtime {
    if (this.#runtime === null || this.#status !== 'leading')
      throw unavailable('not_leading', `This server is not the leader: its status is ${this.#status}.`, 2);
    return this.#runtime;
  }

  /** Leads whenever it can, until closed. */
  async #live(): Promise<void> {
    const { signal } = this.#closing;
    while (!signal.aborted) {
      const { end, cause } = await this.#leadOnce();
      if (signal.aborted) return;
      this.#reason = reasonOf(cause);
      this.#log.cannotLead(this.#reason, cause);
      this.#setStatus('unavailable');
      await pause(this.#ports.alarm, this.#backoff.after(end), signal);
    }
  }

  /**
   * One attempt to lead: from the wait for the lock to the loss of the session or the shutdown.
   * Always releases the session.
   */
  async #leadOnce(): Promise<{ end: LeadingEnd; cause: unknown }> {
    const { connect, alarm } = this.#ports;
    let session: LeaderSession;
    try {
      const onStandby = () => {
        this.#log.backInOrder('standby');
        this.#setStatus('standby');
        this.#recordSurvival();
      };
      session = await acquireLeadership({
        connect,
        alarm,
        signal: this.#closing.signal,
        onStandby,
        mayLead: () => (this.#options.cluster?.whyNotLead() ?? null) === null,
      });
    } catch (cause) {
      return { end: cause instanceof CannotLeadError ? 'fruitless' : 'unreachable', cause };
    }
    try {
      await this.#prepare(session);
      const cause = await this.#lead(session);
      return { end: session.isProven ? 'fruitful' : 'fruitless', cause };
    } catch (cause) {
      return { end: 'fruitless', cause };
    } finally {
      await session.release();
    }
  }

  async #prepare(session: LeaderSession): Promise<void> {
    const { beforeLeading } = this.#options;
    if (beforeLeading === undefined) return;
    const checked = beforeLeading(this.#closing.signal).catch((cause: unknown) => {
      throw new CannotLeadError(cause instanceof Error ? cause.message : String(cause), { cause });
    });
    await this.#inTime('the check before leading', session, checked);
  }

  /** Leads on a session that holds the lock, until it is lost or this process stops. Returns why it no longer leads. */
  async #lead(session: LeaderSession): Promise<unknown> {
    const { reader, terms } = this.#ports;
    const { cluster } = this.#options;
    const isAlone = cluster === undefined;
    const active = isAlone
      ? await this.#inTime('counting the active runs', session, reader.countActiveRuns(ALL_SHARDS))
      : { byTenant: new Map(), byStatus: new Map() };
    const leader = await this.#inTime('recording the term', session, terms.begin());
    const over = new AbortController();
    const runtime = this.#newRuntime(session, leader);
    try {
      runtime.setActiveRuns(active.byTenant);
      this.#observer.leadershipTaken(active.byStatus);
      this.#runtime = runtime;
      this.#session = session;
      if (isAlone) this.#setStatus('leading');
      void session.proven.then(() => this.#log.backInOrder('leading'));
      if (isAlone) void this.#recover(runtime, ALL_SHARDS, over.signal);
      else void this.#place(cluster, { runtime, session, signal: over.signal });
      const cause = await Promise.race([session.lost, this.#whenClosing]);
      if (this.#closing.signal.aborted)
        await Promise.race([session.lost, runtime.close(this.#options.config.shutdownGraceMs)]);
      return cause;
    } finally {
      over.abort();
      this.#runtime = null;
      this.#session = null;
      this.recovered = null;
      runtime.abandon(new Error('the session of the leader ended'));
      // A commit whose answer was lost with the session may be in the log, and no listener has received its events.
      this.#broadcaster.interrupt();
    }
  }

  /** Leads the shards that the plan of the cluster gives to this node. */
  #place(
    cluster: NonNullable<EmbeddedOrchestratorOptions['cluster']>,
    { runtime, session, signal }: Led,
  ): Promise<void> {
    const { reader, terms, alarm } = this.#ports;
    const { logger } = this.#options;
    const executor = new ShardExecutor({
      shards: cluster.shards,
      runtime,
      logger,
      count: among => this.#inTime('counting the active runs', session, reader.countActiveRuns(among)),
      prepare: () => this.#inTime('reading the terms', session, prepareTake(terms, runtime)),
      recover: among => this.#recover(runtime, among, signal),
      interrupt: isOf => this.#broadcaster.interrupt(isOf),
    });
    const looked = () => this.#setStatus(session.shards.size > 0 ? 'leading' : 'standby');
    const elapsed = () => performance.now();
    const placement = new Placement({ cluster, session, executor, looked, elapsed, alarm, logger });
    return placement.run(AbortSignal.any([signal, this.#closing.signal]));
  }

  #recover(runtime: Runtime, shards: Shards, signal: AbortSignal): Promise<unknown> {
    const { reader, terms } = this.#ports;
    const { alarm = systemAlarm, logger } = this.#options;
    const take = { reader, terms, runtime, shards, signal };
    this.recovered = recoverUntilDone(take, { alarm, logger, log: this.#log });
    this.#track(this.recovered);
    return this.recovered;
  }

  /**
   * Rejects when the session is lost or the process stops meanwhile. The read itself
   * continues, and close() waits for it.
   */
  #inTime<T>(what: string, session: LeaderSession, read: Promise<T>): Promise<T> {
    this.#track(read);
    const { signal } = this.#closing;
    return within(read, {
      alarm: this.#ports.alarm,
      ms: PREPARATION_TIMEOUT_MS,
      what,
      signal,
      lost: session.lost,
    });
  }

  #track(read: Promise<unknown>): void {
    this.#reads.add(read);
    const settled = () => void this.#reads.delete(read);
    read.then(settled, settled);
  }

  /** If this fails, the terms stay open and count as those of a process that died, which does no harm. */
  #recordSurvival(): void {
    this.#track(this.#ports.terms.survive());
  }

  #newRuntime(session: LeaderSession, leader: OwnTerm): Runtime {
    const { clock, logger, stepTypes, config, random, alarm, writerLimits, credits, spending } = this.#options;
    const { reader, journal, defer, createRuntime } = this.#ports;
    const { cluster } = this.#options;
    const services: RuntimeServices = {
      ...(cluster === undefined ? {} : { shards: cluster.shards }),
      reader,
      leader,
      journal,
      clock,
      alarm: alarm ?? systemAlarm,
      logger,
      stepTypes,
      config,
      random: random ?? Math.random,
      defer,
      graphs: this.#graphs,
      broadcaster: this.#broadcaster,
      ...(writerLimits === undefined ? {} : { writerLimits }),
      observer: this.#observer,
      credits,
      spending,
    };
    return createRuntime(services, session);
  }

  #setStatus(status: OrchestratorStatus): void {
    if (this.#status === 'stopping' || this.#status === status) return;
    this.#log.status(status);
    this.#status = status;
    this.#observer.statusChanged(status);
    if (status === 'leading' || status === 'standby') this.#markReady();
  }
}
