import { atMost } from '../../platform/deadlines.ts';
import { notFound, unavailable } from '../../platform/errors.ts';
import { type Command, typeOfStep } from '../core/index.ts';
import { DEFAULT_LIMITS, GroupCommitLog, type LogEntry, type LogSession } from '../log/index.ts';
import { type OrchestratorObserver, unobserved } from '../ports/observer.ts';
import type { RunRef, RunSnapshot, StartRun, StreamItem } from '../ports/orchestrator.ts';
import type { StepType } from '../ports/step-type.ts';
import { ProgressSweep } from '../turn/progress.ts';
import type { CreditAccount } from './credits/credit-account.ts';
import { CreditMeter } from './credits/credit-meter.ts';
import { RunCredits } from './credits/run-credits.ts';
import type { OwnTerm } from './leadership/leader-terms.ts';
import { loadOf, type RuntimeLoad } from './load.ts';
import { RunResources } from './memory/run-resources.ts';
import { ChildRuns } from './runs/child-runs.ts';
import { FaultLog } from './runs/fault-log.ts';
import { flush } from './runs/flush.ts';
import { giveShard } from './runs/hand-over.ts';
import { LedShards } from './runs/led-shards.ts';
import { LiveRun } from './runs/live-run.ts';
import { LoadSuspects } from './runs/load-suspects.ts';
import { type LoadedRun, Loader, LoadRetries, RELOAD_DELAY_MS } from './runs/loader.ts';
import type { Message } from './runs/mailbox.ts';
import { movedElsewhere, tooManyWrites } from './runs/refusals.ts';
import { RefusedTurns } from './runs/refused-turns.ts';
import { dropDefective, refuseAppend } from './runs/run-failures.ts';
import { RunFinder } from './runs/run-finder.ts';
import type { HeldRun, RunHost, RunKey } from './runs/run-host.ts';
import { RunStarts } from './runs/run-starts.ts';
import { type SlotKind, Slots } from './runs/slots.ts';
import { AHEAD_LIMITS, type AheadLimits } from './runs/steps-ahead.ts';
import { type TimerHandle, Timers } from './runs/timers.ts';
import { eventsIn, TurnQueue } from './runs/turn-queue.ts';
import { WakeUpTimers } from './runs/wake-up-timers.ts';
import type { RuntimeServices } from './runtime-services.ts';

/** The longest that a shutdown waits for the database to take the last events. */
const MAX_FLUSH_MS = 5_000;

/** Commands that reduce the work of a workspace: over its share of the log, they wait instead of being refused. */
const RELIEVING: ReadonlySet<Command['type']> = new Set(['pause', 'stop']);

/**
 * The runs of this process while it leads: load → decide → append → dispatch. It is created when the process begins to
 * lead, and dropped with all its memory when the process stops leading, so nothing from an earlier term can act later.
 */
export class Runtime implements RunHost {
  readonly observer: OrchestratorObserver;
  readonly leader: OwnTerm;
  readonly #services: RuntimeServices;
  readonly faults: FaultLog;
  readonly #log: GroupCommitLog;
  readonly #slots: Slots;
  readonly timers: Timers;
  readonly #loader: Loader;
  readonly suspects: LoadSuspects;
  readonly #loadRetries = new LoadRetries();
  readonly #finder: RunFinder;
  readonly resources: RunResources;
  readonly #runs = new Map<string, LiveRun>();
  /** Starts in progress: a run exists only after its commit. */
  readonly #starting = new Map<string, Promise<RunSnapshot>>();
  readonly #wakeUpTimers: WakeUpTimers;
  readonly meter: CreditMeter;
  readonly #behind: ProgressSweep;
  readonly #starts: RunStarts;
  readonly #children: ChildRuns;
  readonly #turns: TurnQueue;
  readonly #refused: RefusedTurns;
  readonly #led: LedShards;
  readonly ahead: AheadLimits;
  #closing = false;
  #abandoned = false;
  #whenNoAttempts: (() => void) | null = null;

  /** `onLost`: the session failed during a write; the owner of this runtime must abandon it. */
  constructor(services: RuntimeServices, session: LogSession, onLost: (cause: unknown) => void) {
    this.#services = services;
    this.observer = services.observer ?? unobserved;
    this.leader = services.leader;
    this.ahead = services.ahead ?? AHEAD_LIMITS;
    this.faults = new FaultLog(services.logger);
    const { writerLimits = DEFAULT_LIMITS } = services;
    this.#log = new GroupCommitLog(session, onLost, writerLimits, this.observer);
    this.resources = new RunResources(services, () => this.#log.isShared);
    this.#turns = new TurnQueue(writerLimits, {
      log: this.#log,
      ownTurn: callback => this.resources.turns.next(callback, true),
      defer: services.defer,
      takeTurn: run => this.#takeTurn(run),
      visited: () => void (this.#closing || this.#slots.pump()),
    });
    this.#slots = new Slots(services.config);
    this.#led = new LedShards(services.shards ?? null);
    this.timers = new Timers(services.clock, services.alarm);
    this.#behind = new ProgressSweep(this.timers, () => services.clock.now());
    this.#wakeUpTimers = new WakeUpTimers(this.timers, run => this.#wake(run));
    this.meter = new CreditMeter(services, this);
    this.suspects = new LoadSuspects(services.journal);
    this.#loader = new Loader(services, { meter: this.meter, resources: this.resources, suspects: this.suspects });
    const runs = { live: this.#runs, starting: this.#starting };
    this.#finder = new RunFinder({ ...runs, loader: this.#loader, takeUp: this.#takeUp });
    const later = (run: RunKey) => this.#later(run);
    this.#refused = new RefusedTurns({ ...runs, finder: this.#finder, resources: this.resources, later });
    this.#starts = new RunStarts({
      ...runs,
      finder: this.#finder,
      graphs: services.graphs,
      meter: this.meter,
      resources: this.resources,
      limits: services.config,
      reader: services.reader,
      refuseWhenBusy: tenantId => this.#refuseWhenBusy(tenantId),
      inMemory: (held, account) => this.#inMemory(held, account),
    });
    this.#children = new ChildRuns({
      live: this.#runs,
      finder: this.#finder,
      starts: this.#starts,
      reader: services.reader,
      random: this.random,
      memory: this.resources.memory,
      later: act => this.#soon(act),
      wake: run => this.#wake(run),
    });
  }

  /** The number of runs in memory; only the log holds the others. */
  get liveRuns(): number {
    return this.#runs.size;
  }

  load(): RuntimeLoad {
    return loadOf(this.#runs, { slots: this.#slots, log: this.#log, timers: this.timers, resources: this.resources });
  }

  /** Starts a run; see Orchestrator.start. */
  start(run: StartRun): Promise<RunSnapshot> {
    return this.#starts.start(run);
  }

  #inMemory(held: HeldRun, account: CreditAccount): LiveRun {
    return new LiveRun(held, new RunCredits(held, account, this.meter, this.#services.stepTypes), this);
  }

  /** Sends a command to a run, folded if it is not in memory. Throws AppError 404 if the reference does not match. */
  async command(ref: RunRef, command: Command): Promise<RunSnapshot> {
    const isRelieving = RELIEVING.has(command.type);
    const refuse = () => (isRelieving ? this.#refuseWhenClosed(ref.tenantId) : this.#refuseWhenBusy(ref.tenantId));
    refuse();
    // No await if it is in memory: it could leave memory meanwhile.
    const run = this.#runs.get(ref.runId) ?? (await this.#findFor(ref, command));
    refuse();
    if (run === null) throw notFound('Run');
    const { tenantId, projectId, workflowId } = run.identity;
    if (tenantId !== ref.tenantId || projectId !== ref.projectId || workflowId !== ref.workflowId)
      throw notFound('Run');
    if (command.type === 'complete_task') {
      const type = this.stepType(typeOfStep(run.state.graph, command.step) ?? '');
      if (!type?.waitsForPeople && !type?.asksInDoubt) throw notFound('Task');
    }
    return run.submit(command);
  }

  /** Sets how many active runs each tenant has in the database. Call this before any command is accepted. */
  setActiveRuns(counts: ReadonlyMap<string, number>): void {
    this.#starts.setActiveRuns(counts);
  }

  /** Returns whether this runtime executes the runs of the workspace. */
  readonly executes = (tenantId: string): boolean => this.#led.executes(tenantId);
  readonly acceptingShards = (): number[] => this.#led.accepting();
  readonly accepts: RunHost['accepts'] = tenantId => this.#led.accepts(tenantId);

  /** Executes the runs of shards from now on; `counts` are their active runs. They are to be recovered next. */
  take(shards: readonly number[], counts: ReadonlyMap<string, number>): void {
    this.setActiveRuns(counts);
    for (const shard of shards) this.#led.take(shard);
  }

  /** See giveShard. */
  give(shard: number, signal: AbortSignal): Promise<boolean> {
    const { alarm } = this.#services;
    const parts = { led: this.#led, slots: this.#slots, turns: this.#turns, wakeUpTimers: this.#wakeUpTimers };
    const rest = { meter: this.meter, starts: this.#starts, alarm };
    return giveShard({ live: this.#runs, starting: this.#starting, ...parts, ...rest }, shard, signal);
  }

  /** Sets the timer of a run that is not in memory, unless it has one. */
  setWakeUpTimer(run: RunKey, dueAt: number): void {
    const isSet = this.#wakeUpTimers.has(run.runId) || this.#runs.has(run.runId);
    if (!isSet) this.setWakeUpAt(run, { dueAt });
  }

  /** Folds a run and continues it. Logs a failure and tries again later. */
  async recover(run: RunKey): Promise<void> {
    if (this.#abandoned || !this.#mayHold(run)) return;
    try {
      // Taking up the folded run wakes it.
      await this.#finder.find(run, false);
    } catch (error) {
      // The next leader will recover it.
      if (this.#closing || this.#abandoned) return;
      const delayMs = this.#loadRetries.delayAfter(run.runId, error);
      this.faults.notLoaded(run.runId, error, delayMs);
      this.setWakeUpAt(run, { dueAt: this.now() + delayMs });
    }
  }

  /** Accepts no more work, waits up to `graceMs` for attempts in flight, then writes all pending entries. */
  async close(graceMs: number): Promise<void> {
    this.#closing = true;
    if (this.#slots.inUse > 0 && graceMs > 0) {
      const { promise, resolve } = Promise.withResolvers<void>();
      this.#whenNoAttempts = resolve;
      await atMost(this.#services.alarm, graceMs, promise);
    }
    // Outcomes that were just reported are decided in the tick that is due; then their commit is awaited.
    const parts = { behind: this.#behind, suspects: this.suspects, turns: this.#turns, log: this.#log };
    const flushed = flush({ ...parts, defer: this.#services.defer, isOver: () => this.#abandoned });
    await atMost(this.#services.alarm, MAX_FLUSH_MS, flushed);
    this.abandon(new Error('the orchestrator is closed'));
  }

  /** Drops everything at once: nothing is decided, started or written any more. */
  abandon(cause: unknown): void {
    if (this.#abandoned) return;
    this.#abandoned = true;
    this.timers.clear();
    this.#log.abandon(cause);
    this.#loader.abandon(cause);
    void this.suspects.close();
    this.meter.abandon(cause);
    const error = unavailable('not_leading', 'The service is not ready to accept commands.', 2, cause);
    for (const run of [...this.#runs.values(), ...this.#turns.close()]) run.drop(error);
    this.#runs.clear();
  }

  now(): number {
    return this.#services.clock.now();
  }

  readonly random = (): number => this.#services.random();

  stepType(name: string): StepType | undefined {
    return this.#services.stepTypes.get(name);
  }

  readonly setTimer: RunHost['setTimer'] = (dueAt, fire) => this.timers.set(dueAt, fire);
  readonly cancelTimer = (timer: TimerHandle): void => this.timers.cancel(timer);

  schedule(run: LiveRun, isUrgent = false): void {
    this.#turns.add(run, isUrgent);
  }

  claim(run: LiveRun): void {
    if (this.#closing || !this.#led.accepts(run.tenantId)) return;
    this.#slots.offer(run);
    this.#slots.pump();
  }

  releaseSlot(tenantId: string, kind: SlotKind): void {
    this.#slots.release(tenantId, kind);
    if (this.#slots.inUse === 0) this.#whenNoAttempts?.();
    this.#slotFreed();
  }

  moveToCalls(tenantId: string): boolean {
    const moved = this.#slots.moveToCalls(tenantId);
    if (moved) this.#slotFreed();
    return moved;
  }

  #slotFreed(): void {
    // An attempt that was cancelled or moved to the calls reports no outcome that would start the next one.
    if (this.#slots.waiting) this.#turns.visitSoon();
  }

  append(entry: LogEntry): Promise<void> {
    this.#turns.appended(entry.owner.tenantId, eventsIn(entry));
    return this.#log.append(entry);
  }

  progressBehind(run: LiveRun, behind: boolean): void {
    if (behind) this.#behind.add(run);
    else this.#behind.delete(run);
  }

  wantsStream(tenantId: string): boolean {
    return this.#services.broadcaster.hasListeners(tenantId);
  }

  publish(items: StreamItem[]): void {
    this.#services.broadcaster.publish(items);
  }

  readonly setWakeUpAt: RunHost['setWakeUpAt'] = (run, wakeUp) => {
    this.#wakeUpTimers.at(run, this.#abandoned || !this.#mayHold(run) ? null : wakeUp);
  };

  committed(run: LiveRun, { isNew, ended }: { isNew: boolean; ended: boolean }): void {
    const { runId } = run.identity;
    if (isNew && !ended) this.#runs.set(runId, run);
    this.#children.updateCalledRuns(run);
    if (ended) {
      this.suspects.ended(runId);
      // A run that had already ended when it was folded (for a command that is then refused) was not counted as active.
      if (!isNew && this.#runs.get(runId) !== run) return;
      this.#forgetEnded(run);
      this.#children.ended(run);
      return;
    }
    if (!run.quiescent || this.#runs.get(runId) !== run || this.#children.keeps(run)) return;
    this.#runs.delete(runId);
    run.leaveMemory();
    this.observer.runReleased(runId);
    this.#turns.delete(run);
    this.#children.leftMemory(run);
  }

  readonly appendFailed: RunHost['appendFailed'] = (run, failure) => refuseAppend(this.#failing, run, failure);

  decideAgain(run: LiveRun, messages: readonly Message[]): void {
    void this.#refused.decideAgain(run, messages);
  }

  readonly turnDefect: RunHost['turnDefect'] = (run, error) => dropDefective(this.#failing, run, error);

  get #failing() {
    const { faults, leader } = this;
    return { live: this.#runs, refused: this.#refused, faults, leader, later: (run: RunKey) => this.#later(run) };
  }

  #takeTurn(run: LiveRun): void {
    try {
      run.takeTurn();
    } catch (error) {
      this.turnDefect(run, error);
    }
  }

  #refuseWhenBusy(tenantId: string): void {
    this.#refuseWhenClosed(tenantId);
    if (!this.#log.hasRoom(tenantId)) throw tooManyWrites();
  }

  #refuseWhenClosed(tenantId: string): void {
    if (this.#closing || this.#abandoned)
      throw unavailable('not_leading', 'The service is not ready to accept commands.', 2);
    if (!this.#led.accepts(tenantId)) throw movedElsewhere();
  }

  #forgetEnded(run: LiveRun): void {
    this.#runs.delete(run.identity.runId);
    run.leaveMemory();
    this.observer.runReleased(run.identity.runId);
    this.#starts.ended(run);
  }

  /** Finds the run for a caller's command. If the command would continue the run, there must be memory for it. */
  #findFor(ref: RunRef, command: Command): Promise<LiveRun | null> {
    if (command.type === 'resume' || command.type === 'complete_task') this.resources.memory.admit(ref.tenantId);
    return this.#finder.find(ref, true);
  }

  readonly #takeUp = ({ identity, state, events, account, isBehind, quarantined }: LoadedRun): LiveRun | null => {
    if (this.#abandoned || !this.#led.executes(identity.tenantId)) return null;
    const { runId } = identity;
    this.#loadRetries.succeeded(runId);
    if (quarantined !== null) this.faults.quarantined(identity, quarantined);
    const separately = this.#refused.takeSeparately(runId);
    const run = this.#inMemory({ identity, state, isBehind, quarantined, separately }, account);
    this.#children.loaded(run);
    if (state.endedAt === null) {
      this.#runs.set(runId, run);
      this.observer.runLoaded(identity, state, events);
    }
    run.wake();
    return run;
  };

  /** The tenant of a run that is recovered is not known before it is loaded. */
  readonly #mayHold = ({ tenantId }: RunKey): boolean => tenantId === '' || this.#led.executes(tenantId);

  #wake(key: RunKey): void {
    const run = this.#runs.get(key.runId);
    if (run !== undefined) run.wake();
    else void this.recover(key);
  }

  /** With a random delay, so that runs that left memory for each other do not return at the same time. */
  #soon(act: () => void): void {
    if (!this.#abandoned) this.timers.set(this.now() + Math.ceil(RELOAD_DELAY_MS * (1 + this.random())), act);
  }

  /** Folds the run again after a delay, unless something wakes it earlier. */
  #later(run: RunKey): void {
    this.setWakeUpAt(run, { dueAt: this.now() + RELOAD_DELAY_MS });
  }
}
