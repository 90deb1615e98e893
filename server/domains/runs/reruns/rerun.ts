import type { z } from 'zod';
import type { Context } from '../../../operation/context.ts';
import type { Graph, JsonValue, RunStartedData } from '../../../orchestrator/core/index.ts';
import { compile, outsideInputOf, privateInputOf } from '../../../orchestrator/core/index.ts';
import { conflict, invalid, notFound } from '../../../platform/errors.ts';
import { newId } from '../../../platform/ids.ts';
import { actorOf, carriedScopes } from '../../identity/authority.ts';
import { requireWorkflow } from '../../workflows/get.ts';
import { withoutPins } from '../../workflows/pinned-results.ts';
import { requireRun, runScope } from '../access/find.ts';
import { applyEvent, newRunState } from '../reading/run-state.ts';
import { findRunToFold } from '../reading/snapshot-store.ts';
import { callersTrace, toStarted, triggerTypeOf } from '../start/command.ts';
import { editNeeded, mayEdit } from '../start/override-rights.ts';
import type { CommandOutput } from '../start/schemas.ts';
import { startPrepared } from '../start/start.ts';
import { findGraph, hasStarted, type RunRow } from '../store.ts';
import { snapshotDraft } from '../test-runs/test-run.ts';
import { type RecordedValues, readRecordedValues } from '../values/recorded.ts';
import { continuation } from './continuation.ts';
import { earlierTurns, findTurn } from './earlier-turns.ts';
import type { RerunInput } from './schemas.ts';

/** The maximum number of bytes of results that a rerun may seed. */
const MAX_SEED_BYTES = 64 * 1024 * 1024;

type Input = z.output<typeof RerunInput>;

/**
 * Starts a new run of the same version and input, in the same session. With `from_step`, the new run is an episode of
 * that step and its descendants, and the other steps keep the results of the old run. With `version` too, it continues
 * the old run with another version or with the draft. `from_step` may also name a turn of an agent: with `research.3`,
 * the agent continues after its first two turns. Throws AppError 404, 403 `insufficient_scope`, 409 `run_not_ended`
 * (`from_step` of a run in progress) or `run_id_taken` (`runId`), 422 `unknown_step`, `rerun_too_large` or
 * `invalid_graph`, and what any start throws.
 */
export async function rerun(ctx: Context, input: Input, runId = newId()): Promise<z.input<typeof CommandOutput>> {
  const { services, principal } = ctx;
  const { tenantId, projectId } = principal;
  const run = await requireRun(ctx, input);
  const recorded = await readRecordedValues(services.pool, run.id, MAX_SEED_BYTES);
  // No step waits for the new run, and the person who starts it may have other rights.
  const {
    traceparent: _,
    parent: _parent,
    beneath: _beneath,
    withheld_scopes: _withheld,
    acts_for: _actor,
    spends_for: _spender,
    earlier_turns,
    rerun_of: _again,
    ...before
  } = recorded.started;
  const outside = outsideInputOf(recorded.started);
  const hidden = privateInputOf(recorded.started);
  const again: RunStartedData = {
    ...before,
    // The input is the same, so its origin is too.
    ...(outside !== null && { outside_input: outside }),
    ...(hidden !== null && { private_input: hidden }),
    ...callersTrace(ctx),
    version: run.version,
    trigger_type: triggerTypeOf(ctx),
    started_by: principal.email,
    rerun_of: { run_id: run.id, ...(input.from_step !== undefined && { from_step: input.from_step }) },
  };
  // A rerun of the whole run keeps the earlier turns with which the run began. A rerun from a step has the turns before
  // the step, if any.
  const whole = input.from_step === undefined && earlier_turns !== undefined ? { earlier_turns } : {};
  const data = { ...again, ...whole, ...(await partOf(ctx, input, run, recorded)) };
  const start = { runId, tenantId, projectId, workflowId: run.workflow_id, data };
  return toStarted(
    await startPrepared(services, start, { carried: [carriedScopes(principal)], actsFor: actorOf(principal) }),
  );
}

/** Returns the fields of the start that differ from those of the old run. */
async function partOf(
  ctx: Context,
  { from_step, version }: Input,
  run: RunRow,
  recorded: RecordedValues,
): Promise<Partial<RunStartedData>> {
  if (from_step === undefined) {
    if (version === undefined) return {};
    throw invalid('A rerun with another version needs the step from which it continues.', [
      { path: 'from_step', message: 'is needed with `version`' },
    ]);
  }
  const graph = await findGraph(ctx.services.pool, toVersion(ctx, run, run.version));
  if (graph === null) throw new Error(`Run ${run.id} is of a version that does not exist.`);
  const turn = await findTurn(ctx.services.pool, run.id, graph, from_step);
  const step = turn?.agent ?? from_step;
  requireStep(graph, step, 'The run has no such step.');
  const episode = await episodeOf(ctx, { step, from_step, version }, run, { graph, recorded });
  const turns = turn === null ? undefined : await earlierTurns(ctx.services.pool, run.id, turn);
  return { ...episode, ...(turns !== undefined && { earlier_turns: turns }) };
}

type From = { step: string; from_step: string; version: Input['version'] };

/**
 * Returns the part of a start that executes `step` and its descendants again. `from_step`: the value that the caller
 * sent.
 */
async function episodeOf(
  ctx: Context,
  { step, from_step, version }: From,
  run: RunRow,
  { graph, recorded }: { graph: Graph; recorded: RecordedValues },
): Promise<Partial<RunStartedData>> {
  if (version === undefined) {
    requireEnded(run);
    await requireReached(ctx, run.id, from_step);
    return episodeFrom(graph, step, recorded);
  }
  if (!mayEdit([carriedScopes(ctx.principal)])) throw editNeeded('Continuing a run with another version', []);
  requireEnded(run);
  const chosen = await chooseVersion(ctx, run, version);
  requireStep(chosen.graph, step, 'The version that is to run has no such step.');
  const ended = newRunState([]);
  const log = await findRunToFold(ctx.services.pool, runScope(ctx, { id: run.workflow_id, runID: run.id }));
  for (const event of log?.events ?? []) applyEvent(ended, event);
  const { started } = recorded;
  const results = withoutReferences(recorded);
  const old = { before: graph, from: step, ended: ended.steps, started, results };
  return { version: chosen.version, ...continuation({ ...old, after: chosen.graph }) };
}

const toVersion = ({ principal }: Context, run: RunRow, version: number) => ({
  tenantId: principal.tenantId,
  workflowId: run.workflow_id,
  version,
});

function requireStep(graph: Graph, step: string, message: string): void {
  if (graph.steps.some(({ id }) => id === step)) return;
  throw invalid(message, [{ path: 'from_step', message: 'is not a step of this version' }], 'unknown_step');
}

function requireEnded(run: RunRow): void {
  if (run.ended_at === null) throw conflict('run_not_ended', 'Only a run that has ended can be rerun from a step.');
}

/** Returns the version that continues a run, and its graph. The draft becomes a snapshot, which only test runs use. */
async function chooseVersion(
  ctx: Context,
  run: RunRow,
  version: NonNullable<Input['version']>,
): Promise<{ version: number; graph: Graph }> {
  const workflow = await requireWorkflow(ctx, run.workflow_id);
  if (version === 'draft') {
    const { graph, runSetup } = workflow;
    return { version: await snapshotDraft(ctx, workflow, { graph, runSetup: withoutPins(runSetup) }), graph };
  }
  const number = version === 'latest' ? workflow.latestVersion : version;
  if (number === null) {
    throw invalid('The workflow has no published version.', undefined, 'no_published_version');
  }
  const graph = await findGraph(ctx.services.pool, toVersion(ctx, run, number));
  if (graph === null) throw notFound('Version');
  return { version: number, graph };
}

/** Returns the results of a run by step. Throws AppError 422 `rerun_too_large` if one was not read. */
function withoutReferences({ results }: RecordedValues): Map<string, JsonValue> {
  const found = new Map<string, JsonValue>();
  for (const [id, { value, ref }] of results) {
    if (ref !== undefined) {
      throw invalid('The results of the old run are too large to start from.', undefined, 'rerun_too_large');
    }
    found.set(id, value);
  }
  return found;
}

/**
 * Throws AppError 403 if a token that may not edit the workflow names a step that the run did not reach: the steps
 * before it, such as an approval, never completed.
 */
async function requireReached({ services, principal }: Context, runId: string, step: string): Promise<void> {
  if (mayEdit([carriedScopes(principal)]) || (await hasStarted(services.pool, runId, step))) return;
  throw editNeeded('Rerunning from a step that the run did not reach', [
    { path: 'from_step', message: 'was not started in this run' },
  ]);
}

/** Returns the part of a start that makes an episode of `step` and its descendants. */
function episodeFrom(
  graph: Graph,
  step: string,
  recorded: RecordedValues,
): Pick<RunStartedData, 'mode' | 'trigger_steps' | 'seed_results'> {
  const { started } = recorded;
  const compiled = compile(graph);
  const seeds = new Map<string, JsonValue>([...Object.entries(started.seed_results), ...withoutReferences(recorded)]);
  for (const id of compiled.order) {
    if (id === step || compiled.ancestors(id).has(step)) seeds.delete(id);
  }
  const overrides = Object.hasOwn(started.trigger_steps, step) ? started.trigger_steps[step] : undefined;
  return {
    mode: 'episode',
    trigger_steps: Object.fromEntries([[step, overrides ?? {}]]),
    seed_results: Object.fromEntries(seeds),
  };
}
