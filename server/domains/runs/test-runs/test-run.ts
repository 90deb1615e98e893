import type { z } from 'zod';
import type { Context } from '../../../operation/context.ts';
import { type Graph, type JsonMap, outsideInputOf, privateInputOf } from '../../../orchestrator/core/index.ts';
import { conflict, invalid } from '../../../platform/errors.ts';
import { isObject } from '../../../platform/json.ts';
import { actorOf, carriedScopes } from '../../identity/authority.ts';
import { checksum } from '../../workflows/checksum.ts';
import { requireWorkflow } from '../../workflows/get.ts';
import { pinnedIn, withoutPins } from '../../workflows/pinned-results.ts';
import { archived } from '../../workflows/precondition.ts';
import { toDetails } from '../../workflows/problems.ts';
import type { RunSetup, WorkflowRow } from '../../workflows/store.ts';
import { validateDraft } from '../../workflows/validate.ts';
import { insertTestVersion } from '../../workflows/versions/queries.ts';
import { projectScope } from '../../workflows/view.ts';
import { requireRun } from '../access/find.ts';
import type { StartRequest } from '../start/assemble.ts';
import { callersTrace, startOncePerKey, toStarted } from '../start/command.ts';
import { editNeeded, mayEdit } from '../start/override-rights.ts';
import { assembleInput } from '../start/run-input.ts';
import type { CommandOutput } from '../start/schemas.ts';
import { startRun } from '../start/start.ts';
import { readRecordedValues } from '../values/recorded.ts';
import { originOfGiven, withoutPinnedOverrides, withPinnedSteps } from './pinned-steps.ts';
import type { TestRunInput } from './schemas.ts';
import { stepAlone } from './step-alone.ts';

type Input = z.output<typeof TestRunInput>;
type Output = z.input<typeof CommandOutput>;
/** The graph that a test executes, and the params of its start. */
type TestStart = { graph: Graph; runSetup: RunSetup; params: JsonMap } & Pick<
  StartRequest,
  'outsideInput' | 'privateInput'
>;

/** The maximum number of bytes that results of an earlier run may add to the test of a step. A start accepts 1 MiB. */
const MAX_RECORDED_BYTES = 1024 * 1024;
/** How often storing a snapshot is tried, because concurrent callers may take its number first. */
const MAX_ATTEMPTS = 10;
/** Params that a test of one step sets itself. */
const SET_BY_STEP = ['mode', 'trigger_steps', 'seed_results'];

/**
 * POST /v1/workflows/{id}/test-runs: starts a run of the draft, or of only one of its steps. The run executes a
 * snapshot, so later edits do not change it. Throws AppError 404, 403 `insufficient_scope` without `workflow:write`,
 * 409 `workflow_archived`, 422 `invalid_graph`, `unknown_step` or `invalid`, and what any start throws. Starts once per
 * `Idempotency-Key`.
 */
export async function startTestRun(ctx: Context, input: Input): Promise<Output> {
  const { id, ...request } = input;
  const scope = `test:${id}:${ctx.principal.projectId}`;
  const start = { id, scope, request, givenId: input.params.run_id };
  return startOncePerKey(ctx, start, runId => startTest(ctx, input, runId));
}

async function startTest(ctx: Context, input: Input, runId: string | undefined): Promise<Output> {
  const { services, principal } = ctx;
  const { tenantId, projectId, email } = principal;
  const carried = [carriedScopes(principal)];
  const workflow = await requireWorkflow(ctx, input.id);
  if (!mayEdit(carried)) throw editNeeded('Running a draft', []);
  if (workflow.status === 'archived') throw archived();
  const { graph, runSetup, params, ...origin } = await prepareTest(ctx, input, workflow);
  const version = await snapshotDraft(ctx, workflow, { graph, runSetup });
  const run = await startRun(services, {
    tenantId,
    projectId,
    workflowId: workflow.id,
    params,
    defaultTriggerType: 'test',
    ...origin,
    startedBy: email,
    carried,
    actsFor: actorOf(principal),
    snapshot: { version, runSetup: runSetup as TestStart['params'] },
    ...callersTrace(ctx),
    runId,
  });
  return toStarted(run);
}

/**
 * Stores the draft that a test executes as a snapshot, and returns its negative version. Throws AppError 422
 * `invalid_graph` with all errors of a draft that cannot run.
 */
export async function snapshotDraft(
  ctx: Context,
  workflow: Pick<WorkflowRow, 'id'>,
  { graph, runSetup }: Omit<TestStart, 'params'>,
): Promise<number> {
  const report = await validateDraft(ctx.services, { graph, runSetup }, projectScope(ctx));
  if (!report.valid) throw invalid('The draft cannot run.', toDetails(report.errors), 'invalid_graph');
  return storeSnapshot(ctx, workflow.id, { graph, runSetup });
}

async function prepareTest(ctx: Context, input: Input, workflow: WorkflowRow): Promise<TestStart> {
  const params = input.params as JsonMap;
  if (input.step !== undefined) return prepareStep(ctx, { ...input, step: input.step }, workflow);
  for (const field of ['results', 'from_run', 'item'] as const) {
    if (input[field] === undefined) continue;
    throw invalid('Only the test of one step takes results, a run or an item.', [
      { path: field, message: 'is for a test of one step' },
    ]);
  }
  return prepareWhole(workflow, params);
}

/** Prepares a test of the whole draft, in which pinned steps return their results. */
function prepareWhole({ graph, runSetup }: WorkflowRow, params: JsonMap): TestStart {
  const pins = pinnedIn(graph, runSetup);
  // Saved inputs do not affect the run, so the snapshot leaves them out: otherwise each newly saved input would cause
  // another snapshot.
  const { saved_inputs: _, ...setup } = withoutPins(runSetup);
  if (Object.keys(pins).length === 0) return { graph, runSetup: setup, params };
  const origin = originOfGiven(graph.steps, pins) ?? undefined;
  const { trigger_steps: saved } = setup;
  const given = params.trigger_steps;
  return {
    graph: withPinnedSteps(graph, pins),
    outsideInput: origin,
    privateInput: origin,
    runSetup: { ...setup, ...(saved && { trigger_steps: withoutPinnedOverrides(saved, pins) as typeof saved }) },
    params: { ...params, ...(isObject(given) && { trigger_steps: withoutPinnedOverrides(given, pins) }) },
  };
}

async function prepareStep(ctx: Context, input: Input & { step: string }, workflow: WorkflowRow): Promise<TestStart> {
  const path = input.step.split('.');
  const alone = stepAlone(workflow.graph, path, input.item);
  if (alone === null) {
    throw invalid(
      'The draft has no such step.',
      [{ path: 'step', message: 'is not a step of the draft' }],
      'unknown_step',
    );
  }
  const { graph, executed, before } = alone;
  const params = input.params as JsonMap;
  const results = (input.results ?? {}) as JsonMap;
  const details = [
    ...SET_BY_STEP.filter(key => Object.hasOwn(params, key)).map(key => ({
      path: `params.${key}`,
      message: 'cannot be given to a test of one step',
    })),
    ...Object.keys(results)
      .filter(id => !before.has(id))
      .map(id => ({ path: `results.${id.slice(0, 80)}`, message: 'is not a step before this one' })),
    ...(path.length === 1 && input.item !== undefined
      ? [{ path: 'item', message: 'is for a test of a step in a loop' }]
      : []),
  ];
  if (details.length > 0) throw invalid('The test of the step is invalid.', details.slice(0, 50));
  const recorded =
    input.from_run === undefined ? null : await readRun(ctx, { id: input.id, runID: input.from_run }, before);
  const pins = pinnedIn(workflow.graph, workflow.runSetup);
  const pinned = Object.fromEntries(Object.entries(pins).filter(([id]) => before.has(id)));
  const seeds = { ...recorded?.results, ...pinned, ...results, ...alone.seeds };
  const origin = originOfGiven(alone.earlier, seeds);
  const hasInput = Object.keys(assembleInput(params)).length > 0;
  const { trigger_payload, use_as_default } = workflow.runSetup;
  return {
    graph,
    // The run's origins apply even if another input was given. That is over-cautious, but nothing records which part of the input comes
    // from the run.
    outsideInput: recorded?.outsideInput ?? origin ?? undefined,
    privateInput: recorded?.privateInput ?? origin ?? undefined,
    runSetup: { ...(trigger_payload && { trigger_payload }), ...(use_as_default !== undefined && { use_as_default }) },
    params: {
      ...params,
      ...(recorded !== null && !hasInput && { trigger_payload: recorded.input }),
      mode: 'episode',
      trigger_steps: Object.fromEntries([[executed, {}]]),
      seed_results: seeds,
    },
  };
}

/**
 * Returns the input of a run, and its results of the steps `before` the step under test. Throws AppError 404, 422
 * `rerun_too_large`.
 */
export async function readRun(
  ctx: Context,
  ref: { id: string; runID: string },
  before: ReadonlySet<string>,
): Promise<{ input: JsonMap; results: JsonMap; outsideInput: string | null; privateInput: string | null }> {
  const run = await requireRun(ctx, ref);
  const { started, results } = await readRecordedValues(ctx.services.pool, run.id, MAX_RECORDED_BYTES);
  const known = new Map(Object.entries(started.seed_results));
  for (const [id, { value, ref: reference }] of results) {
    if (!before.has(id)) continue;
    if (reference !== undefined) {
      const detail = { path: 'from_run', message: `the result of "${id}" is too large` };
      throw invalid('The results of the run are too large to test with.', [detail], 'rerun_too_large');
    }
    known.set(id, value);
  }
  return {
    input: started.input,
    results: Object.fromEntries([...known].filter(([id]) => before.has(id))),
    outsideInput: outsideInputOf(started),
    privateInput: privateInputOf(started),
  };
}

/**
 * Stores a checked graph as a snapshot of the workflow, and returns its negative version. Throws AppError 409 `busy`.
 */
export async function storeSnapshot(
  ctx: Context,
  id: string,
  { graph, runSetup }: Omit<TestStart, 'params'>,
): Promise<number> {
  const { services, principal } = ctx;
  const snapshot = {
    graph,
    runSetup,
    checksum: checksum(graph),
    by: principal.userId,
    at: new Date(services.clock.now()),
  };
  for (let attempt = 0; attempt < MAX_ATTEMPTS; attempt += 1) {
    const version = await insertTestVersion(services.pool, { tenantId: principal.tenantId, id }, snapshot);
    if (version !== null) return version;
  }
  throw conflict('busy', 'Others are testing this workflow at this moment. Try again.');
}
