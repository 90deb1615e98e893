import type { z } from 'zod';
import type { Services } from '../../../operation/services.ts';
import type { JsonMap } from '../../../orchestrator/core/index.ts';
import type { RunSnapshot, StartRun } from '../../../orchestrator/ports/orchestrator.ts';
import {
  approvalProblems,
  isWithin,
  oversizedOverrides,
  validateOverrides,
} from '../../../orchestrator/validation/index.ts';
import { AppError, type ErrorDetail, invalid } from '../../../platform/errors.ts';
import { storageProblem } from '../../../platform/storable-json.ts';
import { findGraph, findVersion, knownSteps } from '../store.ts';
import { type Carried, requireOverrideRights, requireWholeRun } from './override-rights.ts';
import { StartParams } from './schemas.ts';
import type { StartableRow } from './startable-store.ts';

/** The maximum number of bytes of JSON for a run's input, and for each of trigger_steps and seed_results. */
export const MAX_INPUT_BYTES = 1024 * 1024;

/** Records a refused start and rethrows its error. */
export async function recordingRefusal(
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

function refuse(code: string, message: string, details?: ErrorDetail[]): AppError {
  return invalid(message, details, code);
}

/** Throws AppError 422 `workflow_archived`, `agent_disabled`. */
export function requireStartable({ status, is_disabled }: StartableRow): void {
  if (status === 'archived') throw refuse('workflow_archived', 'The workflow is archived.');
  if (is_disabled) throw refuse('agent_disabled', 'The agent is disabled.');
}

/** Returns the latest version. Throws AppError 422 `no_published_version`. */
export function requireVersion({ latest_version: version }: StartableRow): number {
  if (version === null) throw refuse('no_published_version', 'The workflow has no published version.');
  return version;
}

/** Returns the parsed params of a start. Throws AppError 422 `invalid_input`. */
export function requireParams(params: JsonMap): z.output<typeof StartParams> {
  const parsed = StartParams.safeParse(params);
  if (!parsed.success) throw refuse('invalid_input', 'The params of the start are invalid.', issues(parsed.error));
  return parsed.data;
}

function issues(error: z.ZodError): ErrorDetail[] {
  return error.issues.slice(0, 50).map(issue => ({
    path: ['params', ...issue.path.map(String)].join('.'),
    message: issue.message,
  }));
}

type StartData = {
  input: JsonMap;
  mode: string;
  trigger_steps: Record<string, JsonMap>;
  seed_results: JsonMap;
};

/** Throws AppError 422 `invalid_input` for values that are too large, or that the database cannot store. */
export function requireStorable({ input, trigger_steps, seed_results }: Omit<StartData, 'mode'>): void {
  const oversized = oversizedOverrides(trigger_steps);
  if (oversized.length > 0) {
    const details = oversized
      .slice(0, 50)
      .map(({ step, message }) => ({ path: `params.trigger_steps.${step}`, message }));
    throw refuse('invalid_input', 'An override in trigger_steps has too many fields.', details);
  }
  checkValues({ input, trigger_steps, seed_results });
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

/**
 * Throws AppError 422 `unknown_trigger_step` for a step that the version does not have, 422 `invalid_input` for an
 * override that is not valid for its step, and 403 `insufficient_scope` for an override that one of the tokens may not
 * make.
 */
export async function requireFittingSteps(
  services: Services,
  ref: VersionScope,
  data: Omit<StartData, 'input'>,
  checks: Checks,
): Promise<void> {
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

/** Naming steps costs no query: the graph is read only if a field is overridden or a step is skipped. */
async function checkOverrides(
  services: Services,
  ref: VersionScope,
  data: Omit<StartData, 'input'>,
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
  const requestedFields = new Map(
    Object.entries(requested).map(([step, fields]) => [step, new Set(Object.keys(fields))]),
  );
  const details = problems.slice(0, 50).map(({ step_id, path, message, code }) => {
    const step = step_id ?? '';
    const isAsked = isWithin(path, requestedFields.get(step) ?? new Set());
    return { path: `${isAsked ? 'params' : 'run_setup'}.trigger_steps.${step}.${path}`, message, code };
  });
  throw refuse('invalid_input', 'An override in trigger_steps is not valid for its step.', details);
}

const overridesAny = (overrides: Record<string, JsonMap>): boolean =>
  Object.values(overrides).some(override => Object.keys(override).length > 0);

/**
 * Checks the overrides of an earlier run again: they require the same rights, and fields that decide an approval can no
 * longer be overridden.
 */
export async function requireRepeatable(services: Services, run: StartRun, carried: Carried): Promise<void> {
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
