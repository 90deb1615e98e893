import { isDeepStrictEqual } from 'node:util';
import type { AppError } from '../../../platform/errors.ts';
import { type Command, isTerminal, type RunEvent, type RunStatus } from '../../core/index.ts';
import type { RunSnapshot } from '../../ports/orchestrator.ts';
import type { Auditor } from '../auditor.ts';
import type { Scenario } from '../scenario.ts';
import type { Surroundings } from '../surroundings.ts';

type Asked = Exclude<Command, { type: 'start' }>;

/** Checks that every answer is in the log by the time a caller gets it (docs/specification/runs.md#durability). */
export class Promises {
  readonly #at: Surroundings;
  readonly #auditor: Auditor;
  readonly #maxActive: number;

  constructor(at: Surroundings, auditor: Auditor, maxActive: number) {
    this.#at = at;
    this.#auditor = auditor;
    this.#maxActive = maxActive;
  }

  /** Returns the number of events of the run that are written so far. A caller can rely on these. */
  known(runId: string): number {
    return this.#auditor.run(runId)?.history.events.length ?? 0;
  }

  waiting(runId: string): string[] {
    return [...(this.#auditor.run(runId)?.state.waiting ?? [])];
  }

  started({ runId, data, tenantId }: Scenario): void {
    const run = this.#auditor.run(runId);
    const first = run?.history.events[0];
    if (first?.type !== 'run_started' || !isDeepStrictEqual(first.data, { ...data, branch_rule: 'edges' })) {
      this.#fail(`the start of ${runId} was acknowledged, but is not in the log`);
      return;
    }
    if (run?.stored.row.tenantId !== tenantId) this.#fail(`${runId} was started for another tenant`);
  }

  /**
   * `committing`: whether the process that refused is waiting for an answer of the database; `known`: whether that
   * process must know that the run exists.
   */
  startRefused(
    { runId, tenantId, unstorable }: Scenario,
    { status, code }: AppError,
    { committing, known }: { committing: boolean; known: boolean },
  ): void {
    const run = this.#auditor.run(runId);
    if (known && LIMITS.includes(code)) this.#fail(`the start of ${runId} is in the log, and was refused as ${code}`);
    if (code === 'run_id_taken' && run === undefined) this.#fail(`${runId} is said to be taken, but is not in the log`);
    if (code === 'not_storable') {
      this.#at.count('start refused by the database');
      if (!unstorable) this.#fail(`the start of ${runId} was refused with what it brought`);
      if (run !== undefined) this.#fail(`the start of ${runId} was refused, but is in the log`);
    }
    // Runs that ended a moment ago may still count, or be in a commit that hangs. Starts that are not in the log yet
    // may count too.
    if (
      code === 'too_many_active_runs' &&
      this.#at.calm &&
      !committing &&
      this.#recentlyActive(tenantId, runId) < this.#maxActive
    )
      this.#at.fail('active-runs', `${tenantId} is said to have as many runs as it may, but has not`);
    const expected = [...LIMITS, 'run_id_taken', 'not_storable', 'too_many_writes'];
    if (status !== 503 && !expected.includes(code))
      this.#at.fail('answers', `a start of ${runId} got ${status} ${code}`);
  }

  /** `known`: the number of events in the log when the command was sent. */
  commanded({ runId }: Scenario, command: Asked, snapshot: RunSnapshot, known: number): void {
    this.#at.count(command.type === 'complete_task' ? 'task answered' : 'command answered');
    const run = this.#auditor.run(runId);
    if (run === undefined) {
      this.#fail(`${command.type} of ${runId} was acknowledged, but there is no such run`);
      return;
    }
    if (snapshot.runId !== runId) this.#fail(`${command.type} of ${runId} was answered for ${snapshot.runId}`);
    const { events } = run.history;
    if (events.some(event => bringsAbout(event, command))) return;
    this.#at.count('command held already');
    if (!holds(events, command, known))
      this.#fail(`${command.type} of ${runId} was acknowledged, but is not in the log and did not hold`);
  }

  refused({ runId }: Scenario, command: Asked, { status, code }: AppError, known: number): void {
    if (status === 503) return;
    const history = this.#auditor.run(runId)?.history;
    const step = command.type === 'complete_task' ? history?.step(command.step) : undefined;
    const isAsked = step !== undefined && ASKING.includes(step.spec.type);
    const holds: Record<string, boolean> = {
      run_already_ended: history?.isTerminal === true,
      run_stopping: history?.stopping === true,
      task_already_completed: step?.answer != null,
      // The task may have become pending since.
      task_not_pending: isAsked,
      not_found: known === 0 || (step !== undefined && !isAsked),
      // Commands that arrive together are refused together.
      not_storable: true,
      // ObservedRuntime and checkMemory check whether memory is used up.
      too_much_memory: true,
      // ShareWatch checks whether its share is used up; commands that reduce its work wait instead.
      too_many_writes: command.type !== 'stop' && command.type !== 'pause',
    };
    if (holds[code] === undefined) this.#at.fail('answers', `${command.type} of ${runId} got ${status} ${code}`);
    else if (!holds[code]) this.#fail(`${command.type} of ${runId} was refused as ${code}, which the log does not say`);
  }

  #recentlyActive(tenantId: string, besides: string): number {
    const recent = this.#at.agenda.now - 5_000;
    const runs = [...this.#auditor.runs.values()].filter(run => run.tenantId === tenantId);
    const unknown = [...this.#at.scenarios.values()].filter(
      scenario => scenario.tenantId === tenantId && scenario.runId !== besides && !this.#auditor.run(scenario.runId),
    );
    return runs.filter(run => !isTerminal(run.history.status) || run.changedAt > recent).length + unknown.length;
  }

  #fail(message: string): void {
    this.#at.fail('durability', message);
  }
}

/** The codes of refusals because a resource that a run needs is used up. */
const LIMITS: readonly string[] = [
  'too_many_active_runs',
  'too_many_active_descendants',
  'insufficient_credits',
  'too_much_memory',
];

/** The types of steps that ask people, at least when their calls are in doubt. */
const ASKING: readonly string[] = ['human_task', 'agent_approval', 'agent_tool', 'mcp_call'];

/** Returns whether exactly this command caused the event: every client has its own name. */
function bringsAbout(event: RunEvent, command: Asked): boolean {
  if (!('by' in command)) return false;
  switch (event.type) {
    case 'state_changed':
    case 'stop_requested':
      return event.data.by === command.by;
    case 'task_completed':
      return event.data.completed_by === command.by;
    default:
      return false;
  }
}

/** Returns whether the command's effect already held at some time after the first `known` events. */
function holds(events: readonly RunEvent[], command: Asked, known: number): boolean {
  const statuses = statusesSince(events, known);
  switch (command.type) {
    case 'pause':
      return statuses.includes('paused');
    case 'resume':
      return statuses.includes('running');
    case 'stop':
      return events.some(event => event.type === 'stop_requested');
    default:
      return false;
  }
}

function statusesSince(events: readonly RunEvent[], known: number): RunStatus[] {
  const statuses: RunStatus[] = [];
  let status: RunStatus = 'running';
  for (const [index, event] of events.entries()) {
    if (index === known) statuses.push(status);
    if (event.type !== 'state_changed') continue;
    status = event.data.to;
    if (index >= known) statuses.push(status);
  }
  if (known >= events.length) statuses.push(status);
  return statuses;
}
