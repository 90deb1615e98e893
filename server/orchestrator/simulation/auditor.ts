import {
  agentStepType,
  type CompiledGraph,
  evolve,
  type GraphStep,
  newRun,
  phase,
  type RunEvent,
  type RunState,
} from '../core/index.ts';
import { STEPS_SKIPPED } from '../log/compact-skips.ts';
import type { LogEntry } from '../log/index.ts';
import { isExpandedAgent } from './agents.ts';
import { checkAgents, checkAgentsGoOn } from './checkers/agents.ts';
import { checkAttempts } from './checkers/attempts.ts';
import { checkCalls } from './checkers/calls.ts';
import { checkBooks, checkCredits } from './checkers/credits.ts';
import { checkDescendants } from './checkers/descendants.ts';
import { checkEarlierTurns } from './checkers/earlier-turns.ts';
import { checkEffects } from './checkers/effects.ts';
import { checkEndings } from './checkers/endings.ts';
import { checkGrowth, checkLoops } from './checkers/growth.ts';
import { checkInDoubt } from './checkers/in-doubt.ts';
import { checkInbox } from './checkers/inbox.ts';
import { checkLost } from './checkers/lost.ts';
import { checkAddedInMemory, checkRunBudget } from './checkers/memory.ts';
import { checkNotStuck } from './checkers/not-stuck.ts';
import { checkOneEnd } from './checkers/one-end.ts';
import { checkOrder } from './checkers/order.ts';
import { checkProjection } from './checkers/projection.ts';
import { checkSequence } from './checkers/sequence.ts';
import { checkSkips } from './checkers/skips.ts';
import { checkUsage } from './checkers/usage.ts';
import { type EventChecker, Violation } from './checkers/violation.ts';
import { compiledGraph, type Database, decodeToFold, numberedEvents, type StoredRun } from './database.ts';
import { History } from './history.ts';
import { isEdgeTaken } from './oracle.ts';
import type { Surroundings } from './surroundings.ts';
import type { SimulatedTerm } from './term-table.ts';

const EVENT_CHECKERS: readonly EventChecker[] = [
  checkOneEnd,
  checkOrder,
  checkAttempts,
  checkSkips,
  checkEndings,
  checkGrowth,
  checkAgents,
  checkInDoubt,
  checkEarlierTurns,
];

/** A run according to its log. */
export type AuditedRun = {
  readonly id: string;
  readonly tenantId: string;
  readonly graph: CompiledGraph;
  readonly stored: StoredRun;
  readonly history: History;
  /** The state folded from the log. */
  readonly state: RunState;
  /** The virtual time of the last commit. */
  changedAt: number;
};

/** Reads every commit as it is written and checks it against the guarantees. */
export class Auditor {
  readonly runs = new Map<string, AuditedRun>();
  /** The number of events written. */
  events = 0;
  readonly #database: Database;
  readonly #at: Surroundings;

  constructor(database: Database, surroundings: Surroundings) {
    this.#database = database;
    this.#at = surroundings;
  }

  run(runId: string): AuditedRun | undefined {
    return this.runs.get(runId);
  }

  /** Called after the leader of `term` committed a batch. */
  committed(batch: readonly LogEntry[], term: number | null): void {
    if (batch.length > 1) this.#at.count('batch of many');
    const leader = this.#database.terms.get(term ?? 0);
    for (const entry of batch) this.#at.check(() => this.#entry(entry, leader));
    this.#at.check(() => checkBooks(this.runs.values(), this.#database, this.#at));
  }

  #entry(entry: LogEntry, leader: SimulatedTerm | undefined): void {
    const run = this.#audited(entry.runId);
    run.changedAt = this.#at.agenda.now;
    if (entry.payloads.length > 0) this.#at.count('value stored externally');
    const folded = entry.payloads.length === 0 ? null : decodeToFold(run.stored, entry.rows);
    if (entry.rows.some(({ type }) => type === STEPS_SKIPPED)) this.#at.count('skips in one row');
    for (const [index, { seq, event }] of numberedEvents(run.stored, entry.rows).entries()) {
      const expected = run.history.events.length + 1;
      if (seq !== expected) throw new Violation('sequence', `event ${seq} of ${run.id} where ${expected} is next`);
      checkLost(run.history, event, { terms: this.#database.terms, leader });
      this.#event(run, event, folded?.[index] ?? event);
    }
    checkNotStuck(run.history);
    checkLoops(run.history);
    checkAgentsGoOn(run.history);
    checkEffects(run.history, run.state);
    if (entry.projection === null) this.#at.count('progress left out');
    checkProjection(run, entry.projection !== null && entry.projection.lastSeq >= run.history.events.length);
    checkInbox(run);
    checkUsage(run, entry);
    checkCredits(run, entry, this.#at);
    checkRunBudget(run, this.#at);
    checkAddedInMemory(run);
  }

  /** `folded`: the same event, as a process reads it that folds the log. */
  #event(run: AuditedRun, event: RunEvent, folded: RunEvent): void {
    checkSequence(run.history, event, { timeWentBack: this.#at.timeWentBack });
    for (const check of EVENT_CHECKERS) check(run.history, event);
    checkCalls(run, event, id => this.runs.get(id));
    checkDescendants(run.id, event, { runs: this.runs, limits: this.#at.twoLed ? null : this.#at.descendants });
    if (event.type === 'child_called') this.#at.called(run.id, event.step, event.data);
    run.history.add(event);
    evolve(run.state, folded);
    this.events += 1;
    this.#tally(run, event);
  }

  #audited(runId: string): AuditedRun {
    const known = this.runs.get(runId);
    if (known !== undefined) return known;
    const stored = this.#database.runs.get(runId);
    if (stored === undefined) throw new Violation('durability', `a commit of ${runId} left nothing behind`);
    const { tenantId, graph } = this.#at.scenario(runId);
    const compiled = compiledGraph(graph);
    const run: AuditedRun = {
      id: runId,
      tenantId,
      graph: compiled,
      stored,
      history: new History(graph),
      state: newRun(runId, compiled),
      changedAt: 0,
    };
    this.runs.set(runId, run);
    return run;
  }

  #tally(run: AuditedRun, event: RunEvent): void {
    const count = (what: string) => this.#at.count(what);
    count(event.type);
    if (event.type === 'state_changed') {
      const { from, to } = event.data;
      count(to === 'paused' ? 'paused' : to === 'running' ? 'resumed' : `run ${to}`);
      if (from === 'paused' && to === 'completed') count('completed while paused');
      if (to === 'stopped' && event.data.by === 'parent run') count('called run stopped by its parent');
    }
    if (event.type === 'state_changed' && event.data.reason !== undefined) count(`paused: ${event.data.reason}`);
    if (event.type === 'step_failed' && event.data.continues) count('run continues after a failure');
    if (event.type === 'step_failed') count(`step failed: ${event.data.error.code}`);
    if (event.type === 'step_failed' && event.data.error.code === 'task_timed_out') count('task timed out: fail');
    if (event.type === 'step_retrying' && event.data.error.code === 'step_timed_out') count('step timed out');
    if (event.type === 'step_failed' && event.data.error.code === 'step_timed_out') count('step timed out');
    if (event.type === 'step_completed' && 'skipped' in event.data) count(`skip ${event.data.reason}`);
    if (event.type === 'step_started' && event.attempt === 1) this.#tallyEdges(run, event.step);
    if ('step' in event && run.history.step(event.step).expanded !== null) this.#tallyExpanded(run, event);
    if (event.type === 'step_failed' && event.data.tolerated) count('failure tolerated');
    if (event.type === 'step_expanded' && event.step.includes('.')) count('loop in a loop');
    if (event.type === 'child_ended') count(`called run ${event.data.status}`);
    if (event.type === 'step_retrying' && event.data.error.code.endsWith('_descendants'))
      count('refused by the limit of a root');
    if (event.type === 'step_failed' && event.data.error.code.endsWith('_descendants'))
      count('refused by the limit of a root');
    if (event.type === 'child_called' && event.data.detach) count('called without waiting');
    if (event.type === 'child_called' && event.data.agent) count('run called by an agent');
    if (event.type === 'child_ended' && agentStepType(event.step) !== null)
      count(`run called by an agent ${event.data.status}`);
    if (event.type === 'run_started' && event.data.parent !== undefined) count('called run started');
    if (event.type === 'step_cancelled') count(`cancel ${event.data.reason}`);
    const waited = 'step' in event && run.history.step(event.step).waitsUntil !== null;
    if (waited && event.type === 'step_completed') count('wait over');
    if (waited && event.type === 'step_cancelled') count('wait cancelled');
    if (event.type === 'task_completed' && event.data.timed_out) count('task timed out: answered');
    if (event.type === 'task_pending' && event.data.in_doubt) count('asked about a lost attempt');
    if (event.type === 'task_completed' && event.data.decision !== undefined) count(`in doubt: ${event.data.decision}`);
    if (event.type === 'step_log' && event.data.lines.some(line => line.startsWith('… further')))
      count('log cut at 64 KiB');
    if (event.type === 'step_started' && run.history.step(event.step).lost > 0) count('attempt lost');
    if (event.type === 'step_started' && run.history.step(event.step).lost > 5)
      count('begun again after more than five interruptions');
    if (phase(run.state) === 'blocked') count('blocked');
  }

  /**
   * Counts the step if a condition before it took a branch that does not lead to it, or one of two branches that do.
   */
  #tallyEdges({ history }: AuditedRun, step: string): void {
    const { dependencies, added } = history.step(step);
    if (dependencies.some(dependency => !isEdgeTaken(history, dependency, step)))
      this.#at.count('step started by one of its edges');
    const name = added?.name ?? step;
    const namesTwice = ({ then, else: other }: GraphStep) =>
      Array.isArray(then) && Array.isArray(other) && then.includes(name) && other.includes(name);
    if (dependencies.some(dependency => namesTwice(history.step(dependency).spec)))
      this.#at.count('step started by both branches');
  }

  /** Counts what happened to a loop or an agent. */
  #tallyExpanded({ history }: AuditedRun, event: Extract<RunEvent, { step: string }>): void {
    const count = (what: string) => this.#at.count(what);
    const what = isExpandedAgent(history.step(event.step)) ? 'agent' : 'loop';
    if (event.type === 'step_failed' && event.data.error.code === 'step_timed_out') count(`${what} timed out`);
    if (event.type === 'step_failed' && event.data.caused_by_step_id !== undefined)
      count(what === 'agent' ? 'agent failed by a turn or a limit' : 'loop failed by an item');
    if (event.type === 'step_completed') count(`${what} completed`);
    if (what === 'agent' && event.type === 'step_expanded' && event.step.includes('.')) count('agent in a loop');
    if (event.type !== 'steps_added') return;
    for (const { type, fields } of event.data.steps) {
      if (fields?.closing !== undefined) count(`agent closes: ${fields.closing}`);
      if (type === 'agent_compaction')
        count(fields?.overflow === undefined ? 'agent compacted' : 'agent compacted after a refusal');
    }
  }
}
