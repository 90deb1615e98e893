import type { z } from 'zod';
import type { Services } from '../../../operation/services.ts';
import type { JsonMap, RunStartedData, StartedBeneath } from '../../../orchestrator/core/index.ts';
import { derivedId } from '../../../platform/ids.ts';
import { currentLineage } from '../../../platform/lineage.ts';
import type { Carried } from './override-rights.ts';
import { assembleInput, mergeBeneath } from './run-input.ts';
import type { StartParams } from './schemas.ts';
import type { StartableRow } from './startable-store.ts';
import { type ActsFor, actsFor, withheldScopes } from './step-scopes.ts';

export type StartRequest = {
  tenantId: string;
  projectId: string;
  workflowId: string;
  /**
   * The params as received. They are checked here, because a start with invalid params is recorded as a refused start.
   */
  params: JsonMap;
  /** Used if `params` names none. */
  defaultTriggerType: string;
  startedBy: string;
  /** The scopes of each token that requests the start; its steps must be within all of them. */
  carried: Carried;
  /** The user for whom agents of the run act. If absent, calls of the agents fail. */
  actsFor?: ActsFor | undefined;
  /** The person to whose daily credits the run counts, and the maximum number of microcredits that it may charge. */
  spending?: Pick<RunStartedData, 'spends_for' | 'budget'>;
  /** The caller's trace context. */
  traceparent?: string;
  /** Where the input holds text from outside of the workspace; absent if no such place is known. */
  outsideInput?: string | undefined;
  /** Where the input holds private data; absent if no such place is known. */
  privateInput?: string | undefined;
  /** The id of the run if `params` names none; default: a new one. */
  runId?: string;
  /** The snapshot that a test run executes; default: the latest version. */
  snapshot?: { version: number; runSetup: StartableRow['run_setup'] };
};

/**
 * Returns the values with which a run starts: the values of the request override those of the run setup, if the setup's
 * defaults apply.
 */
export function assembleStart(
  request: StartRequest,
  params: z.output<typeof StartParams>,
  setup: NonNullable<StartableRow['run_setup']>,
  runId: string,
) {
  const useDefaults = params.use_run_setup_defaults ?? setup.use_as_default ?? false;
  const input = assembleInput(request.params);
  const triggerSteps = params.trigger_steps as Record<string, JsonMap>;
  return {
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
}

/**
 * Returns what a run stores about its starter: the scopes that it lacks, the persons for whom it acts and spends, and
 * the run above it.
 */
export async function assembleOrigin(
  { pool }: Pick<Services, 'pool'>,
  ref: { tenantId: string; workflowId: string; version: number },
  { carried, actsFor: actor, spending }: Pick<StartRequest, 'carried' | 'actsFor' | 'spending'>,
) {
  const withheld = await withheldScopes(pool, ref, carried);
  const acting = await actsFor(pool, ref, actor);
  return { ...withheld, ...acting, ...spending, ...startedBeneath(ref.tenantId) };
}

/**
 * Returns the ancestors of a run that another run, or a request or agent of that run, starts. In another workspace, the
 * topmost run is stored under another id, which is the same for all its runs there.
 */
function startedBeneath(tenantId: string): { beneath?: StartedBeneath } {
  const by = currentLineage();
  if (by === null) return {};
  const root_run_id = by.tenantId === tenantId ? by.root : derivedId(0, ['root', by.root]);
  return { beneath: { root_run_id, depth: by.depth + 1 } };
}
