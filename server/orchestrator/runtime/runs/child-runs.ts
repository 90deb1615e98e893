import { AppError } from '../../../platform/errors.ts';
import {
  type ChildEnd,
  type Command,
  lineageOf,
  type ParentCall,
  type RunError,
  type RunStartedData,
  type RunState,
  type RunStatus,
  type StepCall,
} from '../../core/index.ts';
import type { ChildRow, LogReader } from '../../log/index.ts';
import { isBusy, type StartRun } from '../../ports/orchestrator.ts';
import type { LiveMemory } from '../memory/live-memory.ts';
import type { LiveRun } from './live-run.ts';
import type { RunFinder } from './run-finder.ts';
import type { RunKey } from './run-host.ts';
import type { RunStarts } from './run-starts.ts';

type Host = {
  /** Runs in memory. */
  live: ReadonlyMap<string, LiveRun>;
  finder: Pick<RunFinder, 'find'>;
  starts: Pick<RunStarts, 'start'>;
  reader: Pick<LogReader, 'childRuns'>;
  random(): number;
  memory: Pick<LiveMemory, 'hasRoom' | 'admits' | 'onAdmitted'>;
  /** Calls back after a short random delay, unless this process stops leading before. */
  later(act: () => void): void;
  /** Wakes the run, which is loaded if need be. */
  wake(run: RunKey): void;
};

/** An action on a child run: start it, stop it gracefully, or stop it immediately. */
type Aim = 'start' | 'drain' | 'stop';

/** Carries out an aim. `row`: the run in the database, if it was looked up and exists. */
type Act = (row: ChildRow | undefined) => Promise<void>;

/** The actions of this process on the runs that a run in memory has called. */
type Tracked = {
  readonly aims: Map<string, Aim>;
  /** Runs that were called before this run was loaded: each may or may not have been started, or have ended. */
  readonly unknown: Set<string>;
  /** The last action on each run, while it or the look-up before it is in progress. */
  readonly acting: Map<string, Promise<void>>;
  /** How many of these actions are in progress. */
  busy: number;
};

/** The `by` of a stop of a run that no other run waits for any more. */
const BY_PARENT = 'parent run';
/** How many runs are looked up at a time. */
const PAGE = 500;

/**
 * Keeps runs and the runs that they call in step (docs/adr/0020): carries out each committed call, and reports the end
 * of a called run to the run that waits for it. Everything is derived from the logs of both, so the next leader can do
 * it again with the same effect.
 */
export class ChildRuns {
  readonly #host: Host;
  readonly #tracked = new WeakMap<LiveRun, Tracked>();
  /** Runs that were stopped because no other run waits for them any more: their ends are not reported. */
  readonly #unwanted = new Set<string>();

  constructor(host: Host) {
    this.#host = host;
  }

  /** Call this when a run was folded from its log. */
  loaded(run: LiveRun): void {
    if (!hasCalled(run.state)) return;
    const called = [...awaitedCalls(run.state)].map(([, { runId }]) => runId);
    this.#of(run, new Set([...called, ...(run.state.abandoned ?? [])]));
  }

  /** Call this after each commit of a run, and after a turn that committed nothing. */
  updateCalledRuns(run: LiveRun): void {
    const { state } = run;
    if (!hasCalled(state)) return;
    const tracked = this.#of(run);
    const unknown = new Map<string, Act>();
    const aim = (runId: string, as: Aim, act: Act) => {
      if (tracked.aims.get(runId) === as) return;
      tracked.aims.set(runId, as);
      if (tracked.unknown.delete(runId)) unknown.set(runId, act);
      else void this.#carryOut(run, runId, act);
    };
    const isStopping = state.stopRequested !== null;
    for (const [step, call] of awaitedCalls(state)) {
      if (isStopping) aim(call.runId, 'drain', () => this.#drain(run, step, call));
      else if (state.status === 'running') aim(call.runId, 'start', row => this.#begin(run, step, call, row));
    }
    for (const runId of state.abandoned ?? []) aim(runId, 'stop', row => this.#abandon(run, runId, row));
    if (unknown.size === 0) return;
    const rows = this.#lookUp(tracked, [...unknown.keys()]);
    for (const [runId, act] of unknown) void this.#carryOut(run, runId, act, rows);
  }

  /**
   * Returns whether the run stays in memory although nothing of its own is in progress, because a run that
   * it waits for is in memory.
   */
  keeps(run: LiveRun): boolean {
    if (!hasCalled(run.state)) return false;
    if ((this.#tracked.get(run)?.busy ?? 0) > 0) return true;
    if (!this.#host.memory.hasRoom) return false;
    // The end of a run that it does not wait for is not reported to it.
    for (const [, { runId, detach }] of awaitedCalls(run.state)) if (!detach && this.#host.live.has(runId)) return true;
    return false;
  }

  /** Call this when a run has left memory, before its end. */
  leftMemory({ state }: LiveRun): void {
    const parent = this.#host.live.get(state.started?.parent?.run_id ?? '');
    parent?.wake();
  }

  /** Call this when a run has ended and its end is committed. */
  ended({ identity, state }: LiveRun): void {
    const parent = state.started?.parent;
    if (parent === undefined || parent.detached || state.status === null) return;
    if (this.#unwanted.delete(state.runId)) return;
    const end = endOf(state.runId, state.status, state.error, state.credits + state.childrenSpent);
    const key = { ...identity, runId: parent.run_id };
    if (end !== null) void this.#report(key, this.#endCommand(parent.step_id, state.runId, end));
  }

  #of(run: LiveRun, unknown: Set<string> = new Set()): Tracked {
    const known = this.#tracked.get(run);
    if (known !== undefined) return known;
    const tracked: Tracked = { aims: new Map(), unknown, acting: new Map(), busy: 0 };
    this.#tracked.set(run, tracked);
    return tracked;
  }

  /** Reads the rows of runs that were called before this one was loaded. For most of them nothing is left to do. */
  async #lookUp({ unknown }: Tracked, runIds: readonly string[]): Promise<ReadonlyMap<string, ChildRow>> {
    const rows = new Map<string, ChildRow>();
    try {
      for (let at = 0; at < runIds.length; at += PAGE)
        for (const row of await this.#host.reader.childRuns(runIds.slice(at, at + PAGE))) rows.set(row.runId, row);
    } catch (error) {
      for (const runId of runIds) unknown.add(runId);
      throw error;
    }
    return rows;
  }

  /**
   * Carries out `act` once the last action on the same run has ended: only then is it known whether there is anything
   * to stop. A temporary failure is retried after a moment.
   */
  async #carryOut(run: LiveRun, runId: string, act: Act, rows?: Promise<ReadonlyMap<string, ChildRow>>): Promise<void> {
    const tracked = this.#of(run);
    tracked.busy += 1;
    const before = tracked.acting.get(runId);
    // After another action, what the look-up found is out of date.
    const ready =
      (before ?? rows) && Promise.all([rows, before]).then(([found]) => (before ? undefined : found?.get(runId)));
    const acting = (ready === undefined ? act(undefined) : ready.then(act)).catch(() => this.#again(run, runId));
    tracked.acting.set(runId, acting);
    await acting;
    if (tracked.acting.get(runId) === acting) tracked.acting.delete(runId);
    this.#settled(run, tracked);
  }

  #settled(run: LiveRun, tracked: Tracked): void {
    tracked.busy -= 1;
    // The run may leave memory now, unless it already has.
    if (tracked.busy === 0 && this.#host.live.get(run.identity.runId) === run) run.wake();
  }

  #again(run: LiveRun, childId: string): void {
    const { runId, tenantId } = run.identity;
    const again = () =>
      this.#host.later(() => {
        this.#of(run).aims.delete(childId);
        this.#host.wake({ runId, tenantId });
      });
    const wanted = { tenantId, besides: () => this.#host.live.get(runId)?.state.residentBytes ?? 0 };
    // Meanwhile it may leave memory, and so may the runs that wait for it.
    if (this.#host.memory.admits(wanted)) again();
    else this.#host.memory.onAdmitted(wanted, again);
  }

  async #begin(run: LiveRun, step: string, call: StepCall, row: ChildRow | undefined): Promise<void> {
    const { input } = call;
    if (row !== undefined) return this.#found(run, step, call, row);
    if (input === null) return;
    try {
      await this.#host.starts.start(startOf(run, step, { ...call, input }));
    } catch (error) {
      if (!(error instanceof AppError) || isBusy(error)) throw error;
      if (error.code === 'run_id_taken') await this.#find(run, step, call);
      else await this.#refused(run, step, call, error);
      return;
    }
    if (call.detach) await this.#reportStarted(run, step, call);
  }

  async #refused(run: LiveRun, step: string, call: StepCall, { code, message, status }: AppError): Promise<void> {
    const error = { code, message: `The child run was not started: ${message}` };
    await this.#reportEnd(run, step, call, { status: 'refused', error, retryable: status === 429 });
  }

  async #find(run: LiveRun, step: string, call: StepCall): Promise<void> {
    const [row] = await this.#host.reader.childRuns([call.runId]);
    if (row === undefined) throw new Error(`run ${call.runId} is said to exist`);
    await this.#found(run, step, call, row);
  }

  /**
   * Handles a run of this id that exists already: this call started it before, or it has nothing to do with the call.
   */
  async #found(run: LiveRun, step: string, call: StepCall, row: ChildRow): Promise<void> {
    if (row.parentRunId !== run.identity.runId) {
      const error = { code: 'child_run_id_taken', message: `A run with the id ${call.runId} exists already.` };
      await this.#reportEnd(run, step, call, { status: 'refused', error, retryable: true });
      return;
    }
    if (call.detach) await this.#reportStarted(run, step, call);
    else {
      const end = endOf(call.runId, row.status, row.error, row.spent);
      if (end !== null) await this.#reportEnd(run, step, call, end);
    }
  }

  /** Stops the called run gracefully, because the run that waits for it is being stopped gracefully. */
  async #drain(run: LiveRun, step: string, call: StepCall): Promise<void> {
    const outcome = call.detach ? await this.#exists(run, call.runId) : await this.#stop(run, call.runId, 'graceful');
    if (outcome === 'none') {
      const error = { code: 'run_stopping', message: 'The run was stopped before the child run was started.' };
      await this.#reportEnd(run, step, call, { status: 'refused', error, retryable: false });
    } else if (outcome === 'ended' || call.detach) await this.#find(run, step, call);
  }

  async #abandon(run: LiveRun, runId: string, row: ChildRow | undefined): Promise<void> {
    if (row === undefined || isOpen(row.status)) await this.#stop(run, runId, 'immediate');
  }

  async #exists(run: LiveRun, runId: string): Promise<'stopped' | 'none'> {
    const child = this.#host.live.get(runId) ?? (await this.#findCalled(run, runId));
    return child !== null && isChildOf(child, run) ? 'stopped' : 'none';
  }

  /** Loads a run that the run has called. */
  #findCalled({ identity }: LiveRun, runId: string): Promise<LiveRun | null> {
    return this.#host.finder.find({ ...identity, runId }, true);
  }

  async #stop(run: LiveRun, runId: string, mode: 'immediate' | 'graceful'): Promise<'stopped' | 'ended' | 'none'> {
    const child = this.#host.live.get(runId) ?? (await this.#findCalled(run, runId));
    if (child === null || !isChildOf(child, run)) return 'none';
    if (mode === 'immediate') this.#unwanted.add(runId);
    try {
      await child.submit({ type: 'stop', mode, by: BY_PARENT });
      return 'stopped';
    } catch (error) {
      this.#unwanted.delete(runId);
      if (error instanceof AppError && error.code === 'run_already_ended') return 'ended';
      throw error;
    }
  }

  #reportStarted(run: LiveRun, step: string, { runId }: StepCall): Promise<void> {
    return this.#report(run.identity, { type: 'child_started', step, run_id: runId });
  }

  #reportEnd(run: LiveRun, step: string, { runId }: StepCall, end: ChildEnd): Promise<void> {
    return this.#report(run.identity, this.#endCommand(step, runId, end));
  }

  #endCommand(step: string, runId: string, end: ChildEnd): Command {
    return { type: 'child_ended', step, run_id: runId, end, random: this.#host.random() };
  }

  /** Reports to the run that waits. If this fails, that run finds the end in the database when it is loaded. */
  async #report(key: RunKey, command: Command): Promise<void> {
    const { runId } = key;
    try {
      const run = this.#host.live.get(runId) ?? (await this.#host.finder.find(key, false));
      await run?.submit(command);
    } catch {
      this.#host.later(() => {
        const run = this.#host.live.get(runId);
        if (run === undefined) this.#host.wake(key);
        else void this.#report(key, command);
      });
    }
  }
}

const hasCalled = ({ calling, abandoned }: RunState): boolean => calling.size > 0 || abandoned !== null;

/** Calls whose run has not ended, or, where the step does not wait for its end, is not known to have started. */
function* awaitedCalls({ calling, steps }: RunState): Generator<[string, StepCall]> {
  for (const step of calling) {
    const call = steps.get(step)?.call;
    if (call !== undefined) yield [step, call];
  }
}

const isChildOf = (child: LiveRun, parent: LiveRun): boolean =>
  child.state.started?.parent?.run_id === parent.identity.runId;

const isOpen = (status: RunStatus): boolean => status === 'running' || status === 'paused';

function startOf(
  { identity, state }: LiveRun,
  step: string,
  call: StepCall & { input: RunStartedData['input'] },
): StartRun {
  const { runId, tenantId, projectId, workflowId } = identity;
  const { started } = state;
  if (started === null) throw new Error(`run ${runId} has not started`);
  const { root, depth } = lineageOf(runId, started);
  const detached = call.detach ? { detached: true as const } : {};
  const { budget = started.budget && Math.max(0, started.budget - state.credits - state.childrenSpent) } = call;
  const data: RunStartedData = {
    version: call.version,
    input: call.input,
    mode: 'normal',
    trigger_type: 'call_workflow',
    trigger_steps: {},
    seed_results: {},
    session_id: started.session_id,
    started_by: started.started_by,
    ...(started.traceparent !== undefined && { traceparent: started.traceparent }),
    parent: {
      run_id: runId,
      workflow_id: workflowId,
      step_id: step,
      depth: depth + 1,
      root,
      ...detached,
      ...agentsAbove(started, call),
    },
    ...(started.withheld_scopes !== undefined && { withheld_scopes: started.withheld_scopes }),
    ...(started.acts_for !== undefined && { acts_for: started.acts_for }),
    ...(call.outsideInput !== undefined && { outside_input: call.outsideInput }),
    ...(call.privateInput !== undefined && { private_input: call.privateInput }),
    ...(started.spends_for !== undefined && { spends_for: started.spends_for }),
    // What is left: the run that calls is not charged what this one costs.
    ...(budget !== undefined && { budget }),
  };
  return { runId: call.runId, tenantId, projectId, workflowId: call.workflowId, data };
}

/** The agents that lead to the called run, and what the lowest of them leaves to it. */
function agentsAbove({ parent }: RunStartedData, { agent }: StepCall): Pick<ParentCall, 'agents' | 'limits'> {
  const agents = [...(parent?.agents ?? []), ...(agent === undefined ? [] : [agent.id])];
  const limits = agent?.limits ?? parent?.limits;
  return { ...(agents.length > 0 && { agents }), ...(limits !== undefined && { limits }) };
}

/** Returns the end of a called run as its caller records it; null for a run that has not ended. */
function endOf(runId: string, status: RunStatus, failure: RunError | null, spent: number): ChildEnd | null {
  switch (status) {
    case 'running':
    case 'paused':
      return null;
    case 'completed':
      return { status, spent };
    case 'stopped': {
      const error = { code: 'child_run_stopped', message: `The child run ${runId} was stopped.` };
      return { status, error, retryable: false, spent };
    }
    case 'failed': {
      const cause = failure === null ? '' : ` at its step "${failure.step_id}": ${failure.message} (${failure.code})`;
      const error = { code: 'child_run_failed', message: `The child run ${runId} failed${cause}`.slice(0, 4_000) };
      return { status, error, retryable: true, spent };
    }
  }
}
