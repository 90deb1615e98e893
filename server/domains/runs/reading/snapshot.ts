import type { z } from 'zod';
import type { Context } from '../../../operation/context.ts';
import { isoTimestamp } from '../../../platform/clock.ts';
import { notFound } from '../../../platform/errors.ts';
import { runScope } from '../access/find.ts';
import { requireReader } from '../access/readers.ts';
import type { RunRef } from '../schemas.ts';
import { type AddedCounts, findGraph, type RunRow } from '../store.ts';
import { toRun } from '../view.ts';
import { findHandledRun, findHandlerRun } from './failure-link-store.ts';
import { findOriginal, listReruns, type Rerun } from './rerun-link-store.ts';
import {
  applyEvent,
  type FoldedEvent,
  isAddedStep,
  isAgentStep,
  isTerminal,
  newRunState,
  type RunState,
  type StepState,
} from './run-state.ts';
import type { AgentStepSnapshot, RunSnapshot, StepSnapshot } from './schemas.ts';
import { findAgentEvents, findRunToFold } from './snapshot-store.ts';

type Snapshot = z.input<typeof RunSnapshot>;

/**
 * Returns the state of a run, its steps and their attempts, as of the event `last_seq`. The state is folded from the
 * log, because the row of a fast run lags for a moment. Throws AppError 404.
 */
export async function getSnapshot(ctx: Context, input: z.output<typeof RunRef>): Promise<Snapshot> {
  const { pool } = ctx.services;
  const scope = runScope(ctx, input);
  const found = await findRunToFold(pool, scope);
  if (found === null) throw notFound('Run');
  const { run, parent, events, added, lastSeq } = found;
  await requireReader(ctx, run);
  const version = { tenantId: ctx.principal.tenantId, workflowId: run.workflow_id, version: run.version };
  const graph = await findGraph(pool, version);
  const steps = graph?.steps ?? [];
  const state = newRunState(steps.map(({ id }) => id));
  const agents = steps.flatMap(({ id, type }) => (type === 'agent' ? [id] : []));
  // The log only grows, so events up to the same number that are read later are from the same instant.
  const ofAgents = agents.length === 0 ? [] : await findAgentEvents(pool, scope, { agents, lastSeq });
  for (const event of ofAgents.length === 0 ? events : mergeEvents(events, ofAgents)) applyEvent(state, event);
  const links = {
    parent,
    failure_handler: await findHandlerRun(pool, scope, run),
    failed_run: await findHandledRun(pool, scope, run),
    original: await findOriginal(pool, scope, run),
    reruns: (await listReruns(pool, scope, run.id)).map(toRerun),
  };
  return toSnapshot({ ...run, ...links }, state, lastSeq, added);
}

/**
 * Merges two lists of events in their order. For an event that is in both, the agent's version comes first, because it
 * has more data; the second version changes nothing.
 */
const mergeEvents = (events: readonly FoldedEvent[], ofAgents: readonly FoldedEvent[]) =>
  [...ofAgents, ...events].sort((a, b) => a.seq - b.seq);

type Links = Pick<Snapshot, 'parent' | 'failure_handler' | 'failed_run' | 'original' | 'reruns'>;

const toRerun = ({ started_at, ...run }: Rerun) => ({ ...run, started_at: isoTimestamp(started_at.getTime()) });

const NONE_ADDED: AddedCounts = { total: 0, done: 0, credits: 0 };

/** Returns the snapshot of a folded run. */
export function toSnapshot(run: RunRow & Links, state: RunState, lastSeq: number, added = NONE_ADDED): Snapshot {
  const all = [...state.steps.values()];
  const steps = all.filter(({ id }) => !isAddedStep(id));
  const open = all.filter(({ id, endedAt, attempts }) => isAddedStep(id) && endedAt === null && attempts.length > 0);
  const ofAgents = all.filter(({ id }) => isAgentStep(id));
  const status = state.status ?? run.status;
  const ended = isTerminal(status);
  return {
    ...toRun(run),
    parent: run.parent,
    failure_handler: run.failure_handler,
    failed_run: run.failed_run,
    original: run.original,
    reruns: run.reruns,
    status,
    run_complete: ended,
    orchestration_phase: ended ? 'complete' : run.orchestration_phase,
    ended_at: isoOf(state.endedAt) ?? (ended && run.ended_at ? isoTimestamp(run.ended_at.getTime()) : null),
    error: state.error ?? toRun(run).error,
    steps_done: steps.filter(step => step.endedAt !== null).length,
    steps_skipped: steps.filter(step => step.status === 'skipped').length,
    credits_microcredits: steps.reduce((sum, step) => sum + step.credits, added.credits),
    pending_tasks: run.pending_tasks,
    last_seq: lastSeq,
    added_steps: {
      total: added.total,
      done: added.done,
      open: open.map(toStepSnapshot),
      of_agents: ofAgents.map(toAgentStep),
    },
    stopping: state.stopping,
    pause_reason: state.pauseReason,
    steps: steps.map(toStepSnapshot),
  };
}

function toAgentStep(step: StepState): z.input<typeof AgentStepSnapshot> {
  const { type, tool, closing, dependsOn } = step.ofAgent ?? { type: '', tool: null, closing: null, dependsOn: [] };
  return { ...toStepSnapshot(step), type, tool, closing, depends_on: [...dependsOn] };
}

/** Returns a folded step in the form of the API. */
export function toStepSnapshot(step: StepState): z.input<typeof StepSnapshot> {
  return {
    step_id: step.id,
    status: step.status,
    skip_reason: step.skipReason,
    error: step.error,
    continues: step.continues,
    reused: step.reused,
    due_at: isoOf(step.dueAt),
    task_name: step.taskName,
    ended_at: isoOf(step.endedAt),
    credits_microcredits: step.credits,
    child_run: step.childRun,
    attempts: step.attempts.map(({ startedAt, endedAt, credits, ...rest }) => ({
      ...rest,
      started_at: isoTimestamp(startedAt),
      ended_at: isoOf(endedAt),
      credits_microcredits: credits,
    })),
  };
}

const isoOf = (at: number | null): string | null => (at === null ? null : isoTimestamp(at));
