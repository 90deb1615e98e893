import type { Services } from '../../../operation/services.ts';
import type { JsonMap } from '../../../orchestrator/core/index.ts';
import type { RunSnapshot, StartRun } from '../../../orchestrator/ports/orchestrator.ts';
import { notFound } from '../../../platform/errors.ts';
import { isId, newId } from '../../../platform/ids.ts';
import { assembleOrigin, assembleStart, type StartRequest } from './assemble.ts';
import { requireFittingInput } from './input-schema.ts';
import {
  recordingRefusal,
  requireFittingSteps,
  requireParams,
  requireRepeatable,
  requireStartable,
  requireStorable,
  requireVersion,
} from './refuse.ts';
import { findStartable, type StartableRow } from './startable-store.ts';
import { requireAgents, requireStepScopes } from './step-scopes.ts';

/**
 * Starts a run of the latest version, or of the given snapshot. Throws AppError 404 for a workflow that the project
 * does not have, 403 for a token that lacks a scope that a step type or an override requires, 409 `run_id_taken`. A
 * refused start (422 `no_published_version`, `workflow_archived`, `invalid_input`, `unknown_trigger_step`,
 * `insufficient_credits`; 429 `too_many_active_runs`) is recorded as `run_rejected` under the id that the run would
 * have had, and its error is thrown.
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
  return recordingRefusal(services, scope, async () => {
    const { version, data } = await prepare(services, request, workflow, runId);
    const ref = { tenantId, workflowId, version };
    await requireAgents(services, ref);
    const origin = await assembleOrigin(services, ref, request);
    return services.orchestrator.start({ ...scope, data: { ...data, version, ...origin } });
  });
}

const snapshotOr = (workflow: StartableRow, { snapshot }: StartRequest): StartableRow =>
  snapshot === undefined ? workflow : { ...workflow, latest_version: snapshot.version, run_setup: snapshot.runSetup };

async function prepare(services: Services, request: StartRequest, workflow: StartableRow, runId: string) {
  requireStartable(workflow);
  const ref = { ...request, version: requireVersion(workflow) };
  const params = requireParams(request.params);
  const setup = workflow.run_setup ?? {};
  const data = assembleStart(request, params, setup, runId);
  requireStorable(data);
  await requireFittingInput(services.pool, ref, data.input);
  const requested = params.trigger_steps as Record<string, JsonMap>;
  const saved = setup.trigger_steps ?? {};
  await requireFittingSteps(services, ref, data, { requested, saved, carried: request.carried });
  return { version: ref.version, data };
}

/**
 * Starts a run whose input and version are already known (a rerun). Like any start, it may be refused with 422
 * `workflow_archived`, `invalid_input` or `insufficient_credits`, or 429 `too_many_active_runs`. Throws AppError 404
 * for a workflow that the project does not have.
 */
export async function startPrepared(
  services: Services,
  run: StartRun,
  request: Pick<StartRequest, 'carried' | 'actsFor'>,
): Promise<RunSnapshot> {
  const workflow = await findStartable(services.pool, run);
  if (workflow === null) throw notFound('Workflow');
  const ref = { ...run, version: run.data.version };
  await requireStepScopes(services.pool, ref, request.carried);
  await requireRepeatable(services, run, request.carried);
  return recordingRefusal(services, run, async () => {
    requireStartable(workflow);
    await requireFittingInput(services.pool, ref, run.data.input);
    await requireAgents(services, ref);
    const origin = await assembleOrigin(services, ref, request);
    return services.orchestrator.start({ ...run, data: { ...run.data, ...origin } });
  });
}
