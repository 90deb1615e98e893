import { AppError, conflict } from '../../../platform/errors.ts';
import {
  type Command,
  CommandRefused,
  diedDuring,
  effects,
  isDue,
  isTerminal,
  type RunState,
} from '../../core/index.ts';
import { AppendError, type LargeResult, type LogEntry } from '../../log/index.ts';
import type { RunSnapshot } from '../../ports/orchestrator.ts';
import type { Outcome } from '../../ports/step-type.ts';
import { nextTimer, WHEN_DUE } from '../../turn/due.ts';
import { RunLog } from '../../turn/log-budget.ts';
import { endOfAttempt } from '../../turn/outcome.ts';
import { type Lagging, RunProgress } from '../../turn/progress.ts';
import { type Pricing, type RunIdentity, snapshotOf, Turn } from '../../turn/turn.ts';
import type { RunCredits } from '../credits/run-credits.ts';
import { withinBudget } from '../memory/run-budget.ts';
import { ResidentBytes } from '../memory/run-resources.ts';
import type { AttemptView } from './attempt-view.ts';
import { AttemptsInFlight } from './attempts-in-flight.ts';
import type { AttemptOwner, LiveAttempt } from './live-attempt.ts';
import { type Caller, Mailbox, type Message, notStorable, type Settlements, suspectAttempts } from './mailbox.ts';
import { beingLoaded } from './refusals.ts';
import type { AttemptRef, HeldRun, RunHost } from './run-host.ts';
import type { Claimant } from './slots.ts';
import { StepStarts } from './step-starts.ts';
import { Burst } from './steps-ahead.ts';

/**
 * A run in memory: its state, a serial mailbox, and its attempts in flight. All messages in the mailbox are decided in
 * one turn and written as one entry, whose effects start after its commit; meanwhile messages collect. So a step's end,
 * the pure steps that follow it and the start of the next step share a commit, and a run never has two entries in progress.
 */
export class LiveRun implements Claimant, AttemptOwner, Lagging {
  readonly identity: RunIdentity;
  readonly state: RunState;
  readonly #host: RunHost;
  readonly #credits: RunCredits;
  readonly #onExcess: Pricing['onExcess'];
  readonly #mailbox = new Mailbox();
  #appending = false;
  #dropped = false;
  #timerRang = false;
  readonly #progress = new RunProgress();
  #catchingUp = false;
  readonly #attempts: AttemptsInFlight;
  readonly #starts: StepStarts;
  readonly #log = new RunLog();
  readonly #resident: ResidentBytes;
  /** Each step is committed by itself, because the run may be what ended a process, or what the database refused. */
  readonly #separately: boolean;
  readonly quarantined: string | null;

  constructor({ identity, state, isBehind, quarantined, separately }: HeldRun, credits: RunCredits, host: RunHost) {
    this.identity = identity;
    this.state = state;
    this.quarantined = quarantined;
    this.#resident = new ResidentBytes(host.resources.memory, identity.tenantId);
    this.#credits = credits;
    this.#onExcess = (step, said) => host.faults.excess(identity, step, said);
    this.#host = host;
    this.#attempts = new AttemptsInFlight({ identity, state }, credits, this, host);
    this.#separately = separately === true || diedDuring(state, host.leader);
    this.#starts = new StepStarts(this, credits, host);
    // Its row may also still say `draining`; nothing else would update it before a step of the run begins or ends.
    this.#catchingUp = isBehind || (this.#starts.interrupted > 0 && state.status === 'paused');
    this.#progress.behind = this.#catchingUp;
    if (!isTerminal(state.status)) this.#resident.set(state.residentBytes);
  }

  get tenantId(): string {
    return this.identity.tenantId;
  }

  /** Returns whether nothing is in progress in memory, so that the log alone is enough. */
  get quiescent(): boolean {
    if (!this.#idle || this.#attempts.live.size > 0 || this.#progress.behind || this.#starts.asksForCredits)
      return false;
    return !this.#starts.areWanted && !this.#mustAbandon && !this.#retriesSoon;
  }

  /** Returns whether nothing is decided or written, and the row has all progress, so that another process may continue it. */
  get isSettled(): boolean {
    return this.#idle && this.#attempts.live.size === 0 && !this.#progress.behind;
  }

  /** Steps that could begin if there were slots. */
  get waitingSteps(): number {
    return this.advances ? this.state.ready.size : 0;
  }

  get #idle(): boolean {
    const waiting = !this.#mailbox.isEmpty || this.#starts.granted > 0 || this.#timerRang || this.#catchingUp;
    return !this.#appending && !waiting;
  }

  /** Whether its steps may start. */
  get advances(): boolean {
    return this.state.status === 'running' && this.state.stopRequested === null && this.quarantined === null;
  }

  /** A retry waits at most a minute: not long enough for the run to leave memory. */
  get #retriesSoon(): boolean {
    return this.advances && this.state.retrying.size > 0;
  }

  get #mustAbandon(): boolean {
    return this.#starts.interrupted > 0 && this.state.stopRequested !== null && !isTerminal(this.state.status);
  }

  wants(): boolean {
    return !this.#dropped && this.#starts.areWanted && this.#host.accepts(this.tenantId);
  }

  grant(): void {
    this.#starts.granted += 1;
    this.#host.schedule(this);
  }

  /** A command of a caller. Settles once its events are committed, and those that it depends on. */
  submit(command: Command): Promise<RunSnapshot> {
    return new Promise((resolve, reject) => this.#post(command, { resolve, reject }));
  }

  /** Has the run take a turn: after it was folded, or when its timer rang. */
  wake(): void {
    this.#timerRang = true;
    this.#host.schedule(this);
  }

  /** The balance of the workspace was read again. */
  creditsKnown(): void {
    if (!this.#dropped) this.wake();
  }

  /** Writes the progress that earlier commits left out of the row. */
  catchUp(): void {
    this.#catchingUp = true;
    this.#host.schedule(this);
  }

  /** Fails the attempts whose outcomes the database refused. */
  failAttempts(attempts: readonly AttemptRef[]): void {
    for (const attempt of attempts) this.#post(notStorable(attempt, this.#host.random()));
  }

  attemptEnded(live: LiveAttempt, outcome: Outcome): void {
    this.#attempts.ended(live);
    const { command, large } = this.#endOf(live, outcome);
    this.#post(command, null, large);
  }

  #endOf(of: AttemptView, outcome: Outcome): Message {
    const step = of.step.id;
    const { memory, uncommittedResults } = this.#host.resources;
    const threshold = memory.storeAbove(this.tenantId);
    const ended = { step, attempt: of.attempt, random: this.#host.random(), threshold, of };
    const { command, large } = endOfAttempt(ended, this.#log.within(step, outcome));
    if (large !== null) uncommittedResults.add(this.tenantId, large.json.length);
    return { command, caller: null, large };
  }

  attemptLogged(live: LiveAttempt, lines: string[]): void {
    const kept = this.#log.keep(live.step.id, lines);
    if (kept.length === 0) return;
    this.#post({ type: 'attempt_log', step: live.step.id, attempt: live.attempt, lines: kept });
  }

  /** Drops the run: another process continues it, or its state is no longer valid. Waiting callers get `error`. */
  drop(error: unknown): void {
    if (this.#dropped) return;
    this.#dropped = true;
    this.#host.observer.runReleased(this.identity.runId);
    this.#attempts.abortAll();
    this.#starts.releaseSlots();
    this.#credits.drop();
    this.#host.resources.releaseResults(this.tenantId, this.#mailbox.rejectAll(error));
    this.leaveMemory();
  }

  leaveMemory(): void {
    this.#resident.set(0);
  }

  /** Decides the messages of a turn that was refused, in their order. */
  decideAgain(messages: readonly Message[]): void {
    if (this.#dropped) {
      for (const { caller } of messages) caller?.reject(beingLoaded());
      this.#host.resources.releaseResults(this.tenantId, messages);
      return;
    }
    for (const message of messages) this.#mailbox.push(message);
    this.#host.schedule(this);
  }

  /** Decides all pending messages, and pure steps that follow; appends the events as one entry. */
  takeTurn(): void {
    if (this.#appending || this.#dropped) return;
    const turn = new Turn(this.identity, this.state, this.#credits.pricing(this.#onExcess), this.#attempts.live);
    const messages = this.#mailbox.take(this.#host.resources.entryBytes);
    const answers = this.#decide(messages, turn);
    const ahead = this.#decideAhead(turn);
    if (!isTerminal(this.state.status)) this.#resident.set(this.state.residentBytes);
    const catchUp = this.#catchingUp && this.#progress.behind;
    this.#catchingUp = false;
    if (turn.events.length === 0 && !catchUp) {
      this.#host.resources.releaseResults(this.tenantId, messages);
      for (const answer of answers) answer();
      this.#host.setWakeUpAt(this.identity, nextTimer(this.state, this.#starts.due, this.#host.now()));
      this.#host.committed(this, { isNew: false, ended: isTerminal(this.state.status) });
      if (!this.#mailbox.isEmpty) this.#host.schedule(this);
      return;
    }
    const written = this.#write(turn, { messages, answers, ahead, catchUp });
    const settled = written.catch(error => this.#host.turnDefect(this, error));
    const decided = ahead.length === 0 ? messages : [...messages, ...ahead];
    this.#host.resources.releaseResultsAfter(settled, this.tenantId, decided);
  }

  /**
   * Decides messages, what is due, and which steps start. Returns the answers for callers, in order, to be sent once the
   * turn is committed.
   */
  #decide(messages: readonly Message[], turn: Turn): Settlements {
    const now = this.#host.now();
    if (this.quarantined !== null) turn.quarantine(this.quarantined, this.#host.leader, now);
    const answers = this.#decideMessages(messages, turn, now);
    if (this.#timerRang) this.#decideDue(turn, now);
    if (this.#mustAbandon) this.#abandonLost(turn, now);
    if (this.quarantined !== null) turn.quarantine(this.quarantined, this.#host.leader, now);
    // Before a step starts: what the ended ones cost is no longer reserved, and must not be spent again.
    this.#credits.send(turn.takeCharges());
    this.#starts.decide(turn, now);
    return answers;
  }

  /**
   * Decides the pure steps that the turn has started, and those that follow from them, as separate turns would: until a
   * limit is reached, or what started must be executed. Only the end of an attempt whose start is in the log leads on: if
   * the process dies of what is evaluated here, that attempt is lost, and the run is not trusted with this again.
   */
  #decideAhead(turn: Turn): readonly Message[] {
    if (!turn.endsAttempt || this.#separately || !this.#mailbox.isEmpty) return NO_MESSAGES;
    const burst = new Burst(this.#host.ahead);
    const all: Message[] = [];
    for (let ended = this.#evaluate(turn, burst); ended.length > 0; ended = this.#evaluate(turn, burst)) {
      // What follows takes over the slots.
      this.#starts.granted += ended.length;
      this.#decide(ended, turn);
      all.push(...ended);
    }
    return all;
  }

  /** Evaluates the pure steps that were just started; the others stay in `turn.started`. */
  #evaluate(turn: Turn, burst: Burst): Message[] {
    const ended: Message[] = [];
    for (const started of turn.started.splice(burst.left)) {
      const evaluated = burst.isOver ? null : this.#attempts.evaluate(started);
      if (evaluated === null) {
        turn.started.push(started);
        continue;
      }
      burst.evaluated(evaluated.outcome);
      ended.push(this.#endOf(evaluated.attempt, evaluated.outcome));
    }
    burst.left = turn.started.length;
    return ended;
  }

  #post(command: Command, caller: Caller | null = null, large: LargeResult | null = null): void {
    if (this.#dropped) {
      caller?.reject(beingLoaded());
      return;
    }
    this.#mailbox.push({ command, caller, large });
    this.#host.schedule(this, command.type === 'stop');
  }

  #decideMessages(messages: readonly Message[], turn: Turn, now: number): (() => void)[] {
    const settlements: (() => void)[] = [];
    for (const { command, caller, large } of messages) {
      // An outcome ends the attempt; after any other command that names the step, a lost attempt is started again.
      const isOutcome = 'attempt' in command && command.type !== 'attempt_log';
      if (isOutcome) {
        this.#starts.lost?.delete(command.step);
        this.#credits.release(command.step);
      }
      try {
        const allowed = withinBudget(this.state, command, this.#host.resources.limits.runBytes);
        const events = turn.apply(allowed, now, allowed === command ? large : null);
        if (isOutcome && events > 0) turn.endsAttempt = true;
        if (caller === null) continue;
        const snapshot = snapshotOf(this.identity, this.state, this.#starts.interrupted);
        settlements.push(() => caller.resolve(snapshot));
      } catch (error) {
        const refusal = error instanceof CommandRefused ? conflict(error.code, error.message) : error;
        if (caller !== null) settlements.push(() => caller.reject(refusal));
        if (!(error instanceof CommandRefused || error instanceof AppError))
          this.#host.faults.commandFailed(this.identity, command.type, error);
      }
    }
    return settlements;
  }

  #decideDue(turn: Turn, now: number): void {
    this.#timerRang = false;
    // Timers are read from indexes that applying commands changes, so they are collected before the first is applied.
    const due = [...effects(this.state).timers].filter(timer => isDue(this.state, timer, now));
    for (const { step, kind } of due) {
      if (kind === 'retry') this.#starts.isDue(step);
      else turn.apply({ type: WHEN_DUE[kind], step, random: this.#host.random() }, now);
    }
  }

  #abandonLost(turn: Turn, now: number): void {
    for (const step of this.#starts.lost ?? []) turn.apply({ type: 'abandon_attempt', step }, now);
    this.#starts.lost = null;
  }

  async #write(turn: Turn, { messages, answers: settlements, ahead, catchUp }: Decided): Promise<void> {
    if (!this.advances) this.#starts.due = null;
    const wakeUp = nextTimer(this.state, this.#starts.due, this.#host.now());
    this.#appending = true;
    try {
      await this.#host.append(this.#entry(turn, wakeUp?.dueAt ?? null, catchUp));
    } catch (error) {
      this.#appending = false;
      this.#credits.sent(false);
      this.#refuse(turn, messages, ahead, error);
      return;
    }
    this.#appending = false;
    if (this.#dropped) {
      // Committed, but the process stopped leading meanwhile: the next leader continues from here.
      for (const settle of settlements) settle();
      return;
    }
    this.#credits.sent(true);
    this.#host.observer.turnCommitted(this.identity, this.state, turn.events);
    if (this.#host.wantsStream(this.tenantId)) this.#host.publish(turn.streamItems());
    if (turn.large.length > 0) this.#host.resources.storedResults.keep(turn.large);
    for (const settle of settlements) settle();
    for (const step of turn.cancelled) this.#attempts.abort(step);
    const ended = isTerminal(this.state.status);
    if (ended) this.#attempts.abortAll();
    for (const started of turn.started) {
      // If the run ended in the same turn (a step was lost too often), the attempts of this turn are already over.
      if (this.state.inFlight.has(started.step)) this.#attempts.start(started);
      else this.#attempts.releaseStep(started.step);
    }
    this.#host.setWakeUpAt(this.identity, ended ? null : wakeUp);
    this.#host.committed(this, { isNew: turn.isNew, ended });
    // Also if the run has ended: callers whose commands arrived meanwhile wait for their refusal.
    if (!this.#idle) this.#host.schedule(this);
  }

  #entry(turn: Turn, nextTimerAt: number | null, catchUp: boolean): LogEntry {
    const entry = turn.entry(nextTimerAt, this.#starts.interrupted);
    const must = catchUp || turn.writesProjection;
    const projection = this.#progress.take(entry.projection, { now: this.#host.now(), must });
    this.#host.progressBehind(this, projection === null);
    return projection === null ? { ...entry, projection } : entry;
  }

  #refuse(turn: Turn, messages: readonly Message[], ahead: readonly Message[], error: unknown): void {
    for (const _ of turn.started) this.#host.releaseSlot(this.tenantId, 'step');
    const isRejected = !(error instanceof AppendError) || error.kind === 'rejected';
    if (ahead.length > 0 && isRejected) {
      // The results of the turn stop waiting for its commit, and wait for that of the next one.
      for (const { large } of messages)
        if (large !== null) this.#host.resources.uncommittedResults.add(this.tenantId, large.json.length);
      this.#host.decideAgain(this, [...messages, ...this.#mailbox.takeAll()]);
      this.drop(beingLoaded());
      return;
    }
    const reason = this.#host.appendFailed(this, { error, isNew: turn.isNew, outcomes: suspectAttempts(messages) });
    for (const { caller } of messages) caller?.reject(reason);
    this.drop(reason);
  }
}

/** A turn that is to be written: its messages, their answers, and the ends of the steps that it decided ahead. */
type Decided = {
  messages: readonly Message[];
  answers: Settlements;
  ahead: readonly Message[];
  catchUp: boolean;
};

const NO_MESSAGES: readonly Message[] = [];
