import type { z } from 'zod';
import type { Context } from '../../../operation/context.ts';
import { compile, type Graph } from '../../../orchestrator/core/index.ts';
import { notFound } from '../../../platform/errors.ts';
import { findGraph, findRun, listResultEvents, type RunRow } from '../../runs/store.ts';
import { readRecordedValues } from '../../runs/values/recorded.ts';
import { awaitEnd } from '../../runs/waiting/run-and-wait.ts';
import { projectScope } from '../../workflows/view.ts';
import { endTrial, type ProposalRow, type StoredTrial } from '../proposals/store.ts';
import { requireProposal } from '../proposals/view.ts';
import type { GetTrialInput, TrialSchema } from '../schemas.ts';
import { judge, type StepEnd } from './checks.ts';

type Output = z.input<typeof TrialSchema>;
type Ended = NonNullable<StoredTrial['ended']>;

/** The maximum number of bytes of results that are read for the checks. */
const MAX_RESULT_BYTES = 16 * 1024 * 1024;

/**
 * GET /v1/autopilot/proposals/{id}/trial: the last trial. Waits up to `wait_s` seconds for the end of its run. Throws AppError 404, also
 * for a proposal that was never tried, 429 `too_many_waiting`.
 */
export async function getTrial(ctx: Context, { id, wait_s = 0 }: z.output<typeof GetTrialInput>): Promise<Output> {
  const row = await requireProposal(ctx, id);
  const { trial, trial_workflow_id: workflowId } = row;
  if (wait_s > 0 && trial?.ended === null && workflowId !== null)
    await awaitEnd(ctx, { ...projectScope(ctx), workflowId, runId: trial.run_id }, wait_s);
  return toTrial(ctx, row);
}

/** Returns the last trial of a proposal, judged if its run has ended. Throws AppError 404. */
export async function toTrial(ctx: Context, row: ProposalRow): Promise<Output> {
  const { trial, trial_workflow_id: workflowId } = row;
  if (trial === null || workflowId === null) throw notFound('Trial');
  const run = await findRun(ctx.services.pool, { ...projectScope(ctx), workflowId, runId: trial.run_id });
  const ended = trial.ended ?? (await judgeTrial(ctx, row, trial, run));
  return {
    proposal_id: row.id,
    workflow_id: workflowId,
    run_id: trial.run_id,
    run_status: run?.status ?? null,
    verdict: ended?.verdict ?? null,
    checks: ended?.checks ?? [],
    stand_ins: trial.stand_ins.map(withHosts),
    live: trial.live ? { ...trial.live, executed: (trial.live.executed ?? []).map(withHosts) } : null,
    from_run: trial.from_run ?? null,
    from_step: trial.from_step ?? null,
    current: trial.edits === row.edits,
    started_by: trial.started_by,
    started_at: trial.started_at,
  };
}

/** Adds `hosts` to steps of trials that were stored without this field. */
const withHosts = <Step extends object>(step: Step) => ({ hosts: null, ...step });

/** Judges a trial whose run has ended, and stores the verdict. Returns null while the run is active. */
async function judgeTrial(
  ctx: Context,
  { id }: ProposalRow,
  trial: StoredTrial,
  run: RunRow | null,
): Promise<Ended | null> {
  if (run === null || run.ended_at === null) return null;
  const { pool } = ctx.services;
  const scope = projectScope(ctx);
  const graph = await findGraph(pool, {
    tenantId: scope.tenantId,
    workflowId: run.workflow_id,
    version: trial.version,
  });
  if (graph === null) return null;
  const ends = await endsOf(ctx, trial);
  const isSimulated = simulatedIn(graph, trial);
  const checks = trial.checks.map(check => judge(check, ends.get(check.step), isSimulated));
  const worst = ['failed', 'simulated'].find(result => checks.some(check => check.result === result));
  const verdict = run.status === 'completed' ? (worst ?? 'proven') : 'failed';
  const ended = { verdict, checks } as Ended;
  await endTrial(pool, { ...scope, id }, { ...trial, ended });
  return ended;
}

async function endsOf({ services: { pool } }: Context, { run_id, checks }: StoredTrial): Promise<Map<string, StepEnd>> {
  const steps = [...new Set(checks.map(({ step }) => step))];
  const { results } = await readRecordedValues(pool, run_id, MAX_RESULT_BYTES, steps);
  const ends = new Map<string, StepEnd>();
  for (const { step_id, data } of await listResultEvents(pool, run_id, steps)) {
    if (step_id !== null && data.skipped === true) ends.set(step_id, { kind: 'skipped' });
  }
  for (const [step, { value, ref }] of results) {
    ends.set(step, ref === undefined ? { kind: 'completed', result: value } : { kind: 'too_large' });
  }
  return ends;
}

/** Returns a function that tells whether a step, or a step before it, is a stand-in. */
function simulatedIn(graph: Graph, { stand_ins }: StoredTrial): (step: string) => boolean {
  const compiled = compile(graph);
  const replaced = new Set(stand_ins.map(({ step }) => step));
  return step => replaced.has(step) || [...compiled.ancestors(step)].some(each => replaced.has(each));
}
