import type { z } from 'zod';
import type { Services } from '../../../operation/services.ts';
import type { JsonMap, RunStartedData, StartedBeneath } from '../../../orchestrator/core/index.ts';
import type { RunSnapshot, StartRun } from '../../../orchestrator/ports/orchestrator.ts';
import {
  approvalProblems,
  isWithin,
  oversizedOverrides,
  validateOverrides,
} from '../../../orchestrator/validation/index.ts';
import { AppError, type ErrorDetail, invalid, notFound } from '../../../platform/errors.ts';
import { derivedId, isId, newId } from '../../../platform/ids.ts';
import { currentLineage } from '../../../platform/lineage.ts';
import { storageProblem } from '../../../platform/storable-json.ts';
import { StartParams } from '../schemas.ts';
import { findGraph, findVersion, knownSteps } from '../store.ts';
import { requireFittingInput } from './input-schema.ts';
import { type Carried, requireOverrideRights, requireWholeRun } from './override-rights.ts';
import { assembleInput, mergeBeneath } from './run-input.ts';
import { findStartable, type StartableRow } from './startable-store.ts';
import { type ActsFor, actsFor, requireAgents, requireStepScopes, withheldScopes } from './step-scopes.ts';

/** The largest run input, and the largest of trigger_steps and seed_results, in bytes of JSON. */
export const MAX_INPUT_BYTES = 1024 * 1024;

export type StartRequest = {
  tenantId: string;
  projectId: string;
  workflowId: string;
  /** The params as received; checked here, because a start with invalid params is a refused start. */
  params: JsonMap;
  /** Used if `params` names none. */
  defaultTriggerType: string;
  startedBy: string;
  /** The scopes of each token that requests the start. */
  carried: Carried;
  /** The user for whom agents of the run act; if absent, their calls fail. */
  actsFor?: ActsFor | undefined;
  /** The person whose credits of the day the run counts towards, and what it may charge at most, in microcredits. */
  spending?: Pick<RunStartedData, 'spends_for' | 'budget'>;
  /** The caller's trace context. */
  traceparent?: string;
  /** Where the input holds text from outside of the workspace; absent: nowhere that is known. */
  outsideInput?: string | undefined;
  /** Where the input holds private data; absent: nowhere that is known. */
  privateInput?: string | undefined;
  /** The id of the run if `params` names none; default: a new one. */
  runId?: string;
  /** The snapshot that a test run executes; default: the latest version. */
  snapshot?: { version: number; runSetup: StartableRow['run_setup'] };
};

/**
 * Starts a run of the latest version, or of the given snapshot. AppError 404 for a workflow that the project does
 * not have, 403 for a token that lacks a scope that a step type or an override requires, 409 `run_id_taken`. A
 * refused start (422 `no_published_version`, `workflow_archived`, `invalid_input`, `unknown_trigger_step`,
 * `insufficient_credits`; 429 `too_many_active_runs`) is recorded as `run_rejected` under the id that the run
 * would have had, and thrown.
 */
export async function startRun(services: Services, request: StartRequest): Promise<RunSnapshot> {
  const { tenantId, projectId, workflowId } = request;
  const startable = await findStartable(services.pool, { tenantId, projectId, workflowId });
  if (startable === null) throw notFound('Workflow');
  const workflow = snapshotOr(startable, request);
  const { latest_version: version } = workflow;
  if (version !== null) await requireStepScopes(services.pool, { tenantId, workflowId, version }, request.carried);
  const given = request.params.run_id;
  const runId =
    typeof given === 'string' && isId(given.toLowerCase()) ? given.toLowerCase() : (request.runId ?? newId());
  const scope = { runId, tenantId, projectId, workflowId };
  return rejecting(services, scope, async () => {
    const { version, data } = await prepare(services, request, workflow, runId);
    const ref = { tenantId, workflowId, version };
    await requireAgents(services, ref);
    const withheld = await withheldScopes(services.pool, ref, request.carried);
    const actor = await actsFor(services.pool, ref, request.actsFor);
    const carried = { ...withheld, ...actor, ...request.spending, ...startedBeneath(tenantId) };
    return services.orchestrator.start({ ...scope, data: { ...data, version, ...carried } });
  });
}

const snapshotOr = (workflow: StartableRow, { snapshot }: StartRequest): StartableRow =>
  snapshot === undefined ? workflow : { ...workflow, latest_version: snapshot.version, run_setup: snapshot.runSetup };

/**
 * Starts a run whose input and version are already known (a rerun). Like any start it is refused with 422
 * `workflow_archived`, `invalid_input` or `insufficient_credits`, or 429 `too_many_active_runs`. AppError 404 for a
 * workflow that the project does not have.
 */
export async function startPrepared(
  services: Services,
  run: StartRun,
  { carried, actsFor: actor }: Pick<StartRequest, 'carried' | 'actsFor'>,
): Promise<RunSnapshot> {
  const workflow = await findStartable(services.pool, run);
  if (workflow === null) throw notFound('Workflow');
  await requireStepScopes(services.pool, { ...run, version: run.data.version }, carried);
  await checkRepeated(services, run, carried);
  return rejecting(services, run, async () => {
    requireStartable(workflow);
    await requireFittingInput(services.pool, { ...run, version: run.data.version }, run.data.input);
    const ref = { ...run, version: run.data.version };
    await requireAgents(services, ref);
    const withheld = await withheldScopes(services.pool, ref, carried);
    return services.orchestrator.start({
      ...run,
      data: {
        ...run.data,
        ...withheld,
        ...(await actsFor(services.pool, ref, actor)),
        ...startedBeneath(run.tenantId),
      },
    });
  });
}

/**
 * Where a run stands that is started on behalf of another one, by a request or an agent of it. In another workspace the run
 * at the top goes by another id, which is the same for all its runs there.
 */
function startedBeneath(tenantId: string): { beneath?: StartedBeneath } {
  const by = currentLineage();
  if (by === null) return {};
  const root_run_id = by.tenantId === tenantId ? by.root : derivedId(0, ['root', by.root]);
  return { beneath: { root_run_id, depth: by.depth + 1 } };
}

/**
 * The overrides of an earlier run require the same rights again, and fields that decide an approval can no longer be
 * overridden.
 */
async function checkRepeated(services: Services, run: StartRun, carried: Carried): Promise<void> {
  const { trigger_steps: overrides, version } = run.data;
  if (!overridesAny(overrides)) return;
  const found = await findVersion(services.pool, { ...run, version });
  if (found === null) throw new Error(`version ${version} of workflow ${run.workflowId} does not exist`);
  const saved = found.run_setup?.trigger_steps ?? {};
  const path = 'trigger_steps';
  requireOverrideRights(services, { graph: found.graph, overrides, saved }, { carried, path });
  const details = approvalProblems(found.graph, overrides, services.stepTypes)
    .slice(0, 50)
    .map(({ step_id, path: field, message, code }) => ({ path: `${path}.${step_id}.${field}`, message, code }));
  if (details.length > 0) throw refuse('invalid_input', 'The run overrides what decides an approval.', details);
}

function requireStartable({ status, is_disabled }: StartableRow): void {
  if (status === 'archived') throw refuse('workflow_archived', 'The workflow is archived.');
  if (is_disabled) throw refuse('agent_disabled', 'The agent is disabled.');
}

const overridesAny = (overrides: Record<string, JsonMap>): boolean =>
  Object.values(overrides).some(override => Object.keys(override).length > 0);

/** Records a refused start and rethrows its error. */
async function rejecting(
  services: Services,
  { runId, tenantId, projectId, workflowId }: Omit<StartRun, 'data'>,
  start: () => Promise<RunSnapshot>,
): Promise<RunSnapshot> {
  try {
    return await start();
  } catch (error) {
    if (!(error instanceof AppError) || !refusals.has(error.code)) throw error;
    const { code, message } = error;
    const at = services.clock.now();
    await services.orchestrator.reject({ runId, tenantId, projectId, workflowId, at, code, message });
    throw error;
  }
}

/** Codes of refused starts. Other errors (409, 503) are not decisions about the start itself. */
const refusals: ReadonlySet<string> = new Set([
  'no_published_version',
  'workflow_archived',
  'agent_disabled',
  'agents_disabled',
  'invalid_input',
  'unknown_trigger_step',
  'too_many_active_runs',
  'too_many_active_descendants',
  'too_many_descendants',
  'calls_too_deep',
  'insufficient_credits',
]);

async function prepare(services: Services, request: StartRequest, workflow: StartableRow, runId: string) {
  requireStartable(workflow);
  const version = workflow.latest_version;
  if (version === null) throw refuse('no_published_version', 'The workflow has no published version.');
  const parsed = StartParams.safeParse(request.params);
  if (!parsed.success) throw refuse('invalid_input', 'The params of the start are invalid.', issues(parsed.error));
  const params = parsed.data;

  const setup = workflow.run_setup ?? {};
  const useDefaults = params.use_run_setup_defaults ?? setup.use_as_default ?? false;
  const input = assembleInput(request.params);
  const triggerSteps = params.trigger_steps as Record<string, JsonMap>;
  const data = {
    input: useDefaults ? mergeBeneath(input, setup.trigger_payload ?? {}) : input,
    mode: params.mode,
    trigger_type: params.trigger_type ?? request.defaultTriggerType,
    trigger_steps: useDefaults
      ? (mergeBeneath(triggerSteps, setup.trigger_steps ?? {}) as Record<string, JsonMap>)
      : triggerSteps,
    seed_results: params.seed_results,
    session_id: params.session_id ?? runId,
    started_by: request.startedBy,
    ...(request.traceparent !== undefined && { traceparent: request.traceparent }),
    ...(request.outsideInput !== undefined && { outside_input: request.outsideInput }),
    ...(request.privateInput !== undefined && { private_input: request.privateInput }),
  };
  const oversized = oversizedOverrides(data.trigger_steps);
  if (oversized.length > 0) {
    const details = oversized
      .slice(0, 50)
      .map(({ step, message }) => ({ path: `params.trigger_steps.${step}`, message }));
    throw refuse('invalid_input', 'An override in trigger_steps has too many fields.', details);
  }
  checkValues({ input: data.input, trigger_steps: data.trigger_steps, seed_results: data.seed_results });
  await requireFittingInput(services.pool, { ...request, version }, data.input);
  const checks = { requested: triggerSteps, saved: setup.trigger_steps ?? {}, carried: request.carried };
  await checkSteps(services, { ...request, version }, data, checks);
  return { version, data };
}

function checkValues(values: Record<string, JsonMap>): void {
  const problem = storageProblem(values);
  if (problem !== null) throw refuse('invalid_input', 'The input contains a value that cannot be stored.', [problem]);
  for (const [path, value] of Object.entries(values)) {
    const json = JSON.stringify(value);
    // A UTF-16 unit takes at most 3 bytes of UTF-8, so for nearly every start no bytes need to be counted.
    if (json.length * 3 <= MAX_INPUT_BYTES || Buffer.byteLength(json) <= MAX_INPUT_BYTES) continue;
    const message = `is larger than ${MAX_INPUT_BYTES} bytes`;
    throw refuse('invalid_input', `The run's ${path} ${message}.`, [{ path: `params.${path}`, message }]);
  }
}

type VersionScope = { tenantId: string; projectId: string; workflowId: string; version: number };

/** `requested`: the overrides in the request. `saved`: those in the version's run setup. */
type Checks = { requested: Record<string, JsonMap>; saved: Record<string, JsonMap>; carried: Carried };
type StartData = { mode: string; trigger_steps: Record<string, JsonMap>; seed_results: JsonMap };

async function checkSteps(services: Services, ref: VersionScope, data: StartData, checks: Checks): Promise<void> {
  const triggered = Object.keys(data.trigger_steps);
  if (data.mode === 'episode' && triggered.length === 0) {
    const detail = { path: 'params.trigger_steps', message: 'must name the steps that the episode starts with' };
    throw refuse('invalid_input', 'An episode needs trigger_steps.', [detail]);
  }
  const named = [...new Set([...triggered, ...Object.keys(data.seed_results)])];
  if (named.length === 0) return;
  const known = await knownSteps(services.pool, ref, named);
  const details = named
    .filter(step => !known.has(step))
    .map(step => ({
      path: `params.${triggered.includes(step) ? 'trigger_steps' : 'seed_results'}.${step}`,
      message: 'is not a step of the published version',
    }));
  if (details.length > 0) {
    throw refuse(
      'unknown_trigger_step',
      'The params name a step that the published version does not have.',
      details.slice(0, 50),
    );
  }
  await checkOverrides(services, ref, data, checks);
}

/** Named steps alone cost nothing here: the graph is read only if a field is overridden or a step skipped. */
async function checkOverrides(
  services: Services,
  ref: VersionScope,
  data: StartData,
  { requested, saved, carried }: Checks,
): Promise<void> {
  const { mode, trigger_steps: overrides, seed_results } = data;
  if (!overridesAny(overrides) && mode !== 'episode' && Object.keys(seed_results).length === 0) return;
  const graph = await findGraph(services.pool, ref);
  if (graph === null) throw new Error(`version ${ref.version} of workflow ${ref.workflowId} does not exist`);
  requireOverrideRights(services, { graph, overrides, saved }, { carried, path: 'params.trigger_steps' });
  requireWholeRun(services, graph, data, carried);
  const problems = await validateOverrides(graph, overrides, services.stepTypes, ref);
  if (problems.length === 0) return;
  const asked = new Map(Object.entries(requested).map(([step, fields]) => [step, new Set(Object.keys(fields))]));
  const details = problems.slice(0, 50).map(({ step_id, path, message, code }) => {
    const step = step_id ?? '';
    const isAsked = isWithin(path, asked.get(step) ?? new Set());
    return { path: `${isAsked ? 'params' : 'run_setup'}.trigger_steps.${step}.${path}`, message, code };
  });
  throw refuse('invalid_input', 'An override in trigger_steps is not valid for its step.', details);
}

function refuse(code: string, message: string, details?: ErrorDetail[]): AppError {
  return invalid(message, details, code);
}

function issues(error: z.ZodError): ErrorDetail[] {
  return error.issues.slice(0, 50).map(issue => ({
    path: ['params', ...issue.path.map(String)].join('.'),
    message: issue.message,
  }));
}
