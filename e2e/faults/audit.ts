import type { Pool } from 'pg';
import { expect } from 'vitest';
import { auditLedger } from '../../server/domains/billing/ledger/audit-store.ts';
import {
  type CompiledGraph,
  compile,
  endsBillableAttempt,
  evolve,
  isTerminal,
  newRun,
  phase,
  type RunEvent,
  type RunState,
} from '../../server/orchestrator/core/index.ts';
import { type LoggedRun, readRuns } from '../../server/orchestrator/log/index.ts';
import { graphs } from './graphs.ts';
import type { Acknowledged, Load } from './load.ts';
import type { Watcher } from './watcher.ts';

/** The end of a run, without the parts that differ between two executions (times and attempt numbers). */
export type Ending = { status: string; error: unknown; steps: Record<string, unknown> };

export function endingOf(events: readonly RunEvent[]): Ending {
  const ending: Ending = { status: '', error: null, steps: {} };
  for (const event of events) {
    if (event.type === 'state_changed') {
      ending.status = event.data.to;
      ending.error = event.data.error ?? null;
    }
    if (event.type === 'step_failed' || event.type === 'step_cancelled') ending.steps[event.step] = event.data;
    if (event.type === 'step_completed')
      ending.steps[event.step] = JSON.parse(
        JSON.stringify(event.data, (key, value) => (key === 'completed_at' ? '' : value)),
      );
  }
  return ending;
}

const compiled = new Map<string, CompiledGraph>();
function graphOf(name: string): CompiledGraph {
  const known = compiled.get(name);
  if (known !== undefined) return known;
  const graph = graphs[name];
  if (graph === undefined) throw new Error(`no graph ${name}`);
  compiled.set(name, compile(graph));
  return graphOf(name);
}

type RunRow = {
  id: string;
  status: string;
  orchestration_phase: string;
  steps_total: number;
  steps_done: number;
  steps_skipped: number;
  pending_tasks: number;
  last_seq: number;
  error: unknown;
  ended_at: Date | null;
};

/**
 * Compares every promise of the service, after a fault, with the database and with the answers that clients received.
 * Called when every run has ended (`load.finish`). `references`: the undisturbed endings by `<graph> <n>`.
 */
export async function audit(pool: Pool, load: Load, references: ReadonlyMap<string, Ending>): Promise<void> {
  const { client, acknowledged, watchers } = load;
  const rows = await pool.query<RunRow>('SELECT * FROM runs');
  const projections = new Map(rows.rows.map(row => [row.id, row]));
  const problems: string[] = [...client.violations];
  const logs = new Map<string, LoggedRun>();
  const ids = [...acknowledged.keys()];
  for (let at = 0; at < ids.length; at += 200)
    for (const [id, run] of await readRuns(pool, ids.slice(at, at + 200))) logs.set(id, run);

  for (const one of acknowledged.values()) {
    const run = logs.get(one.runId);
    const about = `${one.graph} ${one.n} ${one.runId}`;
    const note = (problem: string) => problems.push(`${about}: ${problem}`);
    if (run === undefined) {
      if (one.started) note('its start was acknowledged and it is not there');
      continue;
    }
    const { events } = run;
    checkAcknowledged(one, events, note);
    checkOrder(graphOf(one.graph), events, note);
    const state = newRun(one.runId, graphOf(one.graph));
    for (const event of events) evolve(state, event);
    checkProjection(projections.get(one.runId), state, events, note);
    if (!one.mayBeStopped) checkEnding(references.get(`${one.graph} ${one.n}`), events, note);
  }
  problems.push(...(await numberingProblems(pool)));
  problems.push(...(await taskProblems(pool, logs)));
  problems.push(...(await usageProblems(pool, logs)));
  problems.push(...(await ledgerProblems(pool)));
  for (const watcher of watchers) problems.push(...watchProblems(watcher, logs.get(watcher.runId)));
  expect(problems.slice(0, 20)).toEqual([]);
  // An empty load would prove nothing.
  expect(load.started).toBeGreaterThan(10);
}

/** Money is exact (6): the accounts, the ledger, the usage and the event log agree, and something was charged. */
async function ledgerProblems(pool: Pool): Promise<string[]> {
  const { differences, ledgerRows, runs } = await auditLedger(pool, { now: Date.now() });
  expect(ledgerRows).toBeGreaterThan(0);
  expect(runs.compared).toBeGreaterThan(0);
  return differences.map(({ check, about, expected, found }) => `${check}, ${about}: ${expected}, but ${found}`);
}

type Note = (problem: string) => unknown;

/** No acknowledged command is lost (docs/specification/runs.md#durability). */
function checkAcknowledged(acknowledged: Acknowledged, events: readonly RunEvent[], note: Note): void {
  const changes = events.flatMap(event => (event.type === 'state_changed' ? [event.data.to] : []));
  if (events[0]?.type !== 'run_started') note('its log does not begin with run_started');
  const paused = changes.indexOf('paused');
  if (acknowledged.paused && paused < 0) note('its pause was acknowledged and is not in the log');
  if (acknowledged.paused && acknowledged.resumed && !changes.slice(paused).includes('running'))
    note('its resume was acknowledged and is not in the log');
  const last = changes.at(-1);
  if (acknowledged.stopped === 'immediate' && last !== 'stopped') note(`its stop was acknowledged and it is ${last}`);
  const gracefully = events.some(({ type }) => type === 'stop_requested') || last === 'stopped';
  if (acknowledged.stopped === 'graceful' && !gracefully)
    note('its graceful stop was acknowledged and is not in the log');
  for (const step of acknowledged.answered)
    if (!events.some(event => event.type === 'task_completed' && event.step === step))
      note(`the answer to ${step} was acknowledged and is not in the log`);
}

/** Each step and run ends once, nothing follows the end, no step starts before its dependencies end or while the run is paused (2, 3). */
function checkOrder(graph: CompiledGraph, events: readonly RunEvent[], note: Note): void {
  const ended = new Set<string>();
  let status = 'running';
  for (const event of events) {
    if (isTerminal(status as never)) note(`${event.type} after the run was ${status}`);
    switch (event.type) {
      case 'state_changed':
        status = event.data.to;
        break;
      case 'step_started': {
        if (status === 'paused') note(`${event.step} began while the run was paused`);
        const early = graph.steps.get(event.step)?.spec.depends_on?.filter(step => !ended.has(step)) ?? [];
        if (early.length > 0) note(`${event.step} began before ${early.join()} had ended`);
        break;
      }
      case 'step_completed':
      case 'step_failed':
      case 'step_cancelled':
        if (ended.has(event.step)) note(`${event.step} ended twice`);
        ended.add(event.step);
        break;
      default:
    }
  }
  if (!isTerminal(status as never)) note(`it did not come to an end: ${status}`);
  const added = events.flatMap(event => (event.type === 'steps_added' ? event.data.steps : []));
  const all = graph.steps.size + added.length;
  if (ended.size !== all) note(`${ended.size} of ${all} steps ended`);
}

/** The `runs` row equals the state computed from the log. */
function checkProjection(row: RunRow | undefined, state: RunState, events: readonly RunEvent[], note: Note): void {
  if (row === undefined) {
    note('it has events and no row');
    return;
  }
  const shown = {
    status: row.status,
    phase: row.orchestration_phase,
    steps_total: row.steps_total,
    steps_done: row.steps_done,
    steps_skipped: row.steps_skipped,
    pending_tasks: row.pending_tasks,
    last_seq: row.last_seq,
    error: row.error,
    ended_at: row.ended_at?.getTime() ?? null,
  };
  const folded = {
    status: state.status,
    phase: phase(state),
    steps_total: state.graph.steps.size,
    steps_done: state.done,
    steps_skipped: state.skipped,
    pending_tasks: state.waiting.size,
    last_seq: events.length,
    error: state.error,
    ended_at: state.endedAt,
  };
  if (!isSameJson(shown, folded)) note(`its row is ${JSON.stringify(shown)}, its log says ${JSON.stringify(folded)}`);
}

function checkEnding(reference: Ending | undefined, events: readonly RunEvent[], note: Note): void {
  const ending = endingOf(events);
  if (reference === undefined || !isSameJson(ending, reference))
    note(`it ended as ${JSON.stringify(ending)}, undisturbed as ${JSON.stringify(reference)}`);
}

/** `seq` counts from 1 without gaps, in every run of the database (3). */
async function numberingProblems(pool: Pool): Promise<string[]> {
  const { rows } = await pool.query<{ run_id: string }>(
    'SELECT run_id FROM expanded_run_events GROUP BY run_id HAVING min(seq) <> 1 OR max(seq) <> count(*)',
  );
  return rows.map(({ run_id }) => `${run_id}: its seq has gaps`);
}

/** The `human_tasks` rows equal the state computed from the log. */
async function taskProblems(pool: Pool, logs: ReadonlyMap<string, LoggedRun>): Promise<string[]> {
  const { rows } = await pool.query<{ run_id: string; step_id: string; state: string; approved: boolean | null }>(
    'SELECT run_id, step_id, state, approved FROM human_tasks',
  );
  const shown = rows.filter(row => logs.has(row.run_id)).map(row => Object.values(row).join(' '));
  const folded = [...logs.values()].flatMap(({ runId, events }) =>
    [...tasksOf(events)].map(([step, { state, approved }]) => [runId, step, state, approved ?? ''].join(' ')),
  );
  return rowDifferences('human_tasks', shown, folded);
}

function tasksOf(events: readonly RunEvent[]): Map<string, { state: string; approved: boolean | null }> {
  const tasks = new Map<string, { state: string; approved: boolean | null }>();
  for (const event of events) {
    if (event.type === 'task_pending') tasks.set(event.step, { state: 'pending', approved: null });
    if (event.type === 'task_completed')
      tasks.set(event.step, {
        state: event.data.timed_out ? 'timed_out' : 'completed',
        approved: event.data.approved,
      });
    if ((event.type === 'step_failed' || event.type === 'step_cancelled') && tasks.get(event.step)?.state === 'pending')
      tasks.set(event.step, { state: event.type === 'step_failed' ? 'timed_out' : 'cancelled', approved: null });
  }
  return tasks;
}

/** The usage lists every paid attempt once, and its quantities are the sums of its lines (6). */
async function usageProblems(pool: Pool, logs: ReadonlyMap<string, LoggedRun>): Promise<string[]> {
  type Line = [runId: string, step: string, attempt: number, quantity: number];
  const { rows } = await pool.query<{ id: string; quantity: string; attempts: Line[] }>(
    `SELECT id, quantity, attempts FROM run_usage WHERE action = 'workflow_step'`,
  );
  const wrong = rows.filter(
    ({ quantity, attempts }) => Number(quantity) !== attempts.reduce((sum, line) => sum + line[3], 0),
  );
  const charged = rows
    .flatMap(({ attempts }) => attempts)
    .filter(([runId]) => logs.has(runId))
    .map(line => line.join(' '));
  const due = [...logs.values()].flatMap(({ runId, events }) =>
    events.filter(endsBillableAttempt).map(({ step, attempt }) => `${runId} ${step} ${attempt} 1`),
  );
  return [
    ...wrong.map(({ id }) => `usage ${id} is not the sum of its attempts`),
    ...rowDifferences('run_usage', charged, due),
  ];
}

/** A client that reconnects with `after` has seen every event of the log once and in order. */
function watchProblems({ runId, seen, connections }: Watcher, run: LoggedRun | undefined): string[] {
  if (run === undefined) return [];
  const watched = seen.map(({ seq, event_type }) => `${seq} ${event_type}`);
  const logged = run.events.map(({ type }, index) => `${index + 1} ${type}`);
  if (isSameJson(watched, logged)) return [];
  return [`${runId}: its watcher saw ${watched.join()} over ${connections} connections, the log has ${logged.join()}`];
}

function rowDifferences(table: string, shown: readonly string[], expected: readonly string[]): string[] {
  const rows = new Set(shown);
  const wanted = new Set(expected);
  return [
    ...(rows.size === shown.length ? [] : [`${table} has a row twice`]),
    ...expected.filter(row => !rows.has(row)).map(row => `${table} lacks ${row}`),
    ...shown.filter(row => !wanted.has(row)).map(row => `${table} has ${row}, which the log does not say`),
  ];
}

/** Compares values as JSON, ignoring the order of keys, which jsonb does not keep. */
function isSameJson(value: unknown, other: unknown): boolean {
  return canonical(value) === canonical(other);
}

const canonical = (value: unknown): string =>
  JSON.stringify(value, (_, part) =>
    part !== null && typeof part === 'object' && !Array.isArray(part)
      ? Object.fromEntries(Object.entries(part).sort(([a], [b]) => (a < b ? -1 : 1)))
      : part,
  );
