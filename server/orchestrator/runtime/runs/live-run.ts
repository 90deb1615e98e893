import { AppError, conflict } from '../../../platform/errors.ts';
import {
  type Command,
  CommandRefused,
  effects,
  INSUFFICIENT_CREDITS,
  isDue,
  isTerminal,
  type RunState,
  stepSpec,
} from '../../core/index.ts';
import type { LargeResult, LogEntry } from '../../log/index.ts';
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
import { type AttemptOwner, LiveAttempt } from './live-attempt.ts';
import { type Caller, Mailbox, type Message, notStorable, type Settlements, suspectAttempts } from './mailbox.ts';
import { beingLoaded, TOO_FEW_CREDITS } from './refusals.ts';
import type { AttemptRef, HeldRun, RunHost } from './run-host.ts';
import { type Claimant, type SlotKind, SlotWaits } from './slots.ts';

/**
 * A run in memory: its state, a serial mailbox, and its attempts in flight. All messages in the mailbox are decided in
 * one turn and written as one entry, whose effects start after its commit; meanwhile messages collect. So a step's end
 * and the start of its dependents share a commit, and a run never has two entries in progress.
 */
export class LiveRun implements Claimant, AttemptOwner, Lagging {
  readonly identity: RunIdentity;
  readonly state: RunState;
  readonly #host: RunHost;
  readonly #credits: RunCredits;
  readonly #onExcess: Pricing['onExcess'];
  /** While 'asked', no step starts: the balance of the workspace is being read again. */
  #asksForCredits: 'no' | 'asked' | 'answered' = 'no';
  readonly #mailbox = new Mailbox();
  /** Slots granted and not yet used. */
  #granted = 0;
  #appending = false;
  #dropped = false;
  #timerRang = false;
  readonly #progress = new RunProgress();
  #catchingUp = false;
  readonly #attempts = new Map<string, LiveAttempt>();
  /** Attempts that are in flight by the log but not executed by this process: they started before a crash. */
  #lost: Set<string> | null;
  /** Retries whose time has come. */
  #due: Set<string> | null = null;
  readonly #log = new RunLog();
  readonly #slotWaits = new SlotWaits();
  readonly #resident: ResidentBytes;
  readonly quarantined: string | null;

  constructor({ identity, state, isBehind, quarantined }: HeldRun, credits: RunCredits, host: RunHost) {
    this.identity = identity;
    this.state = state;
    this.quarantined = quarantined;
    this.#resident = new ResidentBytes(host.resources.memory, identity.tenantId);
    this.#credits = credits;
    this.#onExcess = (step, said) => host.faults.excess(identity, step, said);
    this.#host = host;
    this.#lost = state.inFlight.size > 0 ? new Set(state.inFlight) : null;
    // Its row may also still say `draining`; nothing else would update it before a step of the run begins or ends.
    this.#catchingUp = isBehind || (this.#lost !== null && state.status === 'paused');
    this.#progress.behind = this.#catchingUp;
    if (!isTerminal(state.status)) this.#resident.set(state.residentBytes);
  }

  get tenantId(): string {
    return this.identity.tenantId;
  }

  /** Returns whether nothing is in progress in memory, so that the log alone is enough. */
  get quiescent(): boolean {
    if (!this.#idle || this.#attempts.size > 0 || this.#progress.behind || this.#asksForCredits !== 'no') return false;
    return !this.wants() && !this.#mustAbandon && !this.#retriesSoon;
  }

  /** Steps that could begin if there were slots. */
  get waitingSteps(): number {
    return this.#advancing ? this.state.ready.size : 0;
  }

  get #idle(): boolean {
    const waiting = !this.#mailbox.isEmpty || this.#granted > 0 || this.#timerRang || this.#catchingUp;
    return !this.#appending && !waiting;
  }

  get #advancing(): boolean {
    return this.state.status === 'running' && this.state.stopRequested === null && this.quarantined === null;
  }

  /** A retry waits at most a minute: not long enough for the run to leave memory. */
  get #retriesSoon(): boolean {
    return this.#advancing && this.state.retrying.size > 0;
  }

  get #interrupted(): number {
    return this.#lost?.size ?? 0;
  }

  get #mustAbandon(): boolean {
    return this.#lost !== null && this.state.stopRequested !== null && !isTerminal(this.state.status);
  }

  wants(): boolean {
    if (this.#dropped || !this.#advancing || this.#asksForCredits !== 'no') return false;
    return this.state.ready.size + this.#interrupted + (this.#due?.size ?? 0) > this.#granted;
  }

  grant(): void {
    this.#granted += 1;
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
    this.#attempts.delete(live.step.id);
    this.#host.releaseSlot(this.tenantId, live.slot);
    const step = live.step.id;
    const threshold = this.#host.resources.memory.storeAbove(this.tenantId);
    const ended = { step, attempt: live.attempt, random: this.#host.random(), threshold, of: live };
    const { command, large } = endOfAttempt(ended, this.#log.within(step, outcome));
    if (large !== null) this.#host.resources.uncommittedResults.add(this.tenantId, large.json.length);
    this.#post(command, null, large);
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
    this.#abortAll();
    for (; this.#granted > 0; this.#granted -= 1) this.#host.releaseSlot(this.tenantId, 'step');
    this.#credits.drop();
    this.#host.resources.releaseResults(this.tenantId, this.#mailbox.rejectAll(error));
    this.leaveMemory();
  }

  leaveMemory(): void {
    this.#resident.set(0);
  }

  /** Decides all pending messages and appends the events as one entry. */
  takeTurn(): void {
    if (this.#appending || this.#dropped) return;
    const now = this.#host.now();
    const turn = new Turn(this.identity, this.state, this.#credits.pricing(this.#onExcess), this.#attempts);
    const messages = this.#mailbox.take(this.#host.resources.entryBytes);
    if (this.quarantined !== null) turn.quarantine(this.quarantined, this.#host.leader, now);
    const answers = this.#decideMessages(messages, turn, now);
    if (this.#timerRang) this.#decideDue(turn, now);
    if (this.#mustAbandon) this.#abandonLost(turn, now);
    if (this.quarantined !== null) turn.quarantine(this.quarantined, this.#host.leader, now);
    this.#credits.send(turn.credits);
    turn.forgetCancelled(this.#lost, this.#due);
    if (this.#asksForCredits === 'answered') this.#asksForCredits = 'no';
    if (!this.#advancing) this.#credits.forgetAsked();
    if (this.wants()) this.#host.claim(this);
    if (this.#granted > 0) this.#startSteps(turn, now);
    if (this.waitingSteps > 0) this.#slotWaits.stillWaiting(this.state.ready, now);
    else this.#slotWaits.clear();
    if (!isTerminal(this.state.status)) this.#resident.set(this.state.residentBytes);
    const catchUp = this.#catchingUp && this.#progress.behind;
    this.#catchingUp = false;
    if (turn.events.length === 0 && !catchUp) {
      this.#host.resources.releaseResults(this.tenantId, messages);
      for (const answer of answers) answer();
      this.#host.setWakeUpAt(this.identity, nextTimer(this.state, this.#due, now));
      this.#host.committed(this, { isNew: false, ended: isTerminal(this.state.status) });
      if (!this.#mailbox.isEmpty) this.#host.schedule(this);
      return;
    }
    const written = this.#write(turn, messages, answers, catchUp).catch(error => this.#host.turnDefect(this, error));
    this.#host.resources.releaseResultsAfter(written, this.tenantId, messages);
  }

  #post(command: Command, caller: Caller | null = null, large: LargeResult | null = null): void {
    if (this.#dropped) {
      caller?.reject(beingLoaded());
      return;
    }
    this.#mailbox.push({ command, caller, large });
    this.#host.schedule(this, command.type === 'stop');
  }

  /** Returns the answers for callers, in order, to be sent once the turn is committed. */
  #decideMessages(messages: readonly Message[], turn: Turn, now: number): (() => void)[] {
    const settlements: (() => void)[] = [];
    for (const { command, caller, large } of messages) {
      // An outcome ends the attempt; after any other command that names the step, a lost attempt is started again.
      if ('attempt' in command && command.type !== 'attempt_log') {
        this.#lost?.delete(command.step);
        this.#credits.release(command.step);
      }
      try {
        const allowed = withinBudget(this.state, command, this.#host.resources.limits.runBytes);
        turn.apply(allowed, now, allowed === command ? large : null);
        if (caller === null) continue;
        const snapshot = snapshotOf(this.identity, this.state, this.#interrupted);
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
      if (kind === 'retry') this.#due = (this.#due ?? new Set()).add(step);
      else turn.apply({ type: WHEN_DUE[kind], step, random: this.#host.random() }, now);
    }
  }

  #abandonLost(turn: Turn, now: number): void {
    for (const step of this.#lost ?? []) turn.apply({ type: 'abandon_attempt', step }, now);
    this.#lost = null;
  }

  /** Starts steps in the granted slots, and releases the slots that no step needs. */
  #startSteps(turn: Turn, now: number): void {
    const candidates = this.#advancing ? [...(this.#lost ?? []), ...(this.#due ?? [])] : [];
    for (const step of candidates) {
      if (this.#granted === 0 || !this.#hasCreditsFor(turn, step, now)) break;
      this.#lost?.delete(step);
      this.#due?.delete(step);
      this.#startOne(turn, step, now);
    }
    for (const step of effects(this.state).ready) {
      if (this.#granted === 0 || !this.#hasCreditsFor(turn, step, now)) break;
      this.#startOne(turn, step, now);
    }
    turn.forgetCancelled(this.#lost, this.#due);
    if (this.#lost?.size === 0) this.#lost = null;
    if (this.#due?.size === 0) this.#due = null;
    for (; this.#granted > 0; this.#granted -= 1) this.#host.releaseSlot(this.tenantId, 'step');
    // A step that failed instead of starting (no credits, lost too often) may have made other steps of the run ready.
    if (turn.cancelled.length > 0 && this.wants()) this.#host.claim(this);
  }

  /**
   * Returns whether the step may start as far as credits are concerned. If the workspace cannot pay for it, the step
   * fails before it does anything, or the run is paused; but no step is denied before the balance was read again.
   */
  #hasCreditsFor(turn: Turn, step: string, now: number): boolean {
    if (!this.#advancing || this.#asksForCredits !== 'no') return false;
    switch (this.#credits.admit(step, stepSpec(this.state, step).type)) {
      case 'admitted':
        return true;
      case 'unknown':
        this.#asksForCredits = 'asked';
        this.#credits.whenKnown(() => {
          this.#asksForCredits = 'answered';
          if (!this.#dropped) this.wake();
        });
        return false;
      case 'denied':
        this.#denyStep(turn, step, now);
        return false;
    }
  }

  #denyStep(turn: Turn, step: string, now: number): void {
    if (this.#credits.pauses) {
      turn.apply({ type: 'pause', by: 'credits', reason: INSUFFICIENT_CREDITS }, now);
      return;
    }
    this.#startOne(turn, step, now);
    const attempt = this.state.steps.get(step)?.attempt ?? 0;
    turn.apply({ type: 'attempt_failed', step, attempt, error: TOO_FEW_CREDITS, retryable: false, random: 0 }, now);
  }

  /** Releases the slot and the credits of a step that has no attempt any more. */
  #releaseStep(step: string, slot: SlotKind = 'step'): void {
    this.#host.releaseSlot(this.tenantId, slot);
    this.#credits.release(step);
  }

  #startOne(turn: Turn, step: string, now: number): void {
    const before = turn.started.length;
    turn.apply({ type: 'start_attempt', step, leader: this.#host.leader }, now);
    this.#granted -= 1;
    if (turn.started.length === before) this.#releaseStep(step);
    else this.#host.observer.stepStarted(stepSpec(this.state, step).type, this.#slotWaits.started(step, now));
  }

  async #write(turn: Turn, messages: readonly Message[], settlements: Settlements, catchUp: boolean): Promise<void> {
    if (!this.#advancing) this.#due = null;
    const wakeUp = nextTimer(this.state, this.#due, this.#host.now());
    this.#appending = true;
    try {
      await this.#host.append(this.#entry(turn, wakeUp?.dueAt ?? null, catchUp));
    } catch (error) {
      this.#appending = false;
      this.#credits.sent(false);
      this.#refuse(turn, messages, error);
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
    for (const step of turn.cancelled) this.#abort(step);
    const ended = isTerminal(this.state.status);
    if (ended) this.#abortAll();
    for (const started of turn.started) {
      // If the run ended in the same turn (a step was lost too often), the attempts of this turn are already over.
      if (this.state.inFlight.has(started.step)) this.#startAttempt(started);
      else this.#releaseStep(started.step);
    }
    this.#host.setWakeUpAt(this.identity, ended ? null : wakeUp);
    this.#host.committed(this, { isNew: turn.isNew, ended });
    // Also if the run has ended: callers whose commands arrived meanwhile wait for their refusal.
    if (!this.#idle) this.#host.schedule(this);
  }

  #entry(turn: Turn, nextTimerAt: number | null, catchUp: boolean): LogEntry {
    const entry = turn.entry(nextTimerAt, this.#interrupted);
    const must = catchUp || turn.writesProjection;
    const projection = this.#progress.take(entry.projection, { now: this.#host.now(), must });
    this.#host.progressBehind(this, projection === null);
    return projection === null ? { ...entry, projection } : entry;
  }

  #refuse(turn: Turn, messages: readonly Message[], error: unknown): void {
    for (const _ of turn.started) this.#host.releaseSlot(this.tenantId, 'step');
    const reason = this.#host.appendFailed(this, { error, isNew: turn.isNew, outcomes: suspectAttempts(messages) });
    for (const { caller } of messages) caller?.reject(reason);
    this.drop(reason);
  }

  #startAttempt({ step, attempt }: AttemptRef): void {
    const spec = stepSpec(this.state, step);
    const of = { identity: this.identity, state: this.state, step: spec, attempt, credits: this.#credits };
    const live = new LiveAttempt(of, this, this.#host);
    this.#attempts.set(step, live);
    const type = this.#host.stepType(spec.type);
    if (type?.io && this.#host.moveToCalls(this.tenantId)) live.slot = 'call';
    live.start(type);
  }

  #abort(step: string): void {
    const attempt = this.#attempts.get(step);
    if (attempt === undefined) return;
    this.#attempts.delete(step);
    this.#releaseStep(step, attempt.slot);
    attempt.abort();
  }

  #abortAll(): void {
    for (const step of [...this.#attempts.keys()]) this.#abort(step);
  }
}
