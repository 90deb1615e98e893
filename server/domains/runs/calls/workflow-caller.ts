import type { Pool } from 'pg';
import type { JsonMap } from '../../../orchestrator/core/index.ts';
import type { Attempt, CheckScope, StepProblem } from '../../../orchestrator/ports/step-type.ts';
import type {
  CalledWorkflow,
  CallFailure,
  WorkflowCaller,
} from '../../../orchestrator/steps/call-workflow/workflow-caller.ts';
import { AppError } from '../../../platform/errors.ts';
import { whileDatabaseAway } from '../../../platform/postgres/while-away.ts';
import { storageProblem } from '../../../platform/storable-json.ts';
import { requireFittingInput } from '../start/input-schema.ts';
import { findStartable } from '../start/startable-store.ts';
import { missingScope } from '../start/step-scopes.ts';
import { findGraph } from '../store.ts';
import { readOutput } from '../values/output.ts';
import { isCalledBy } from './call-cycles.ts';
import { findGraphOfRun } from './child-graph-store.ts';

/** Lets steps call workflows of their own project. Workflows of other projects are treated as nonexistent. */
export function createWorkflowCaller({ pool }: { pool: Pool }): WorkflowCaller {
  return {
    check: (scope, call) => check(pool, scope, call),
    resolve: (run, call, { lineage, signal }) =>
      whileDatabaseAway(signal, () => resolve(pool, run, call, lineage.withheldScopes)),
    output: (run, child, signal) =>
      whileDatabaseAway(signal, async () => {
        const { tenantId, projectId } = run;
        const graph = await findGraphOfRun(pool, { tenantId, projectId, ...child });
        if (graph === null) return failure('child_run_missing', 'has been deleted');
        const { output, output_error } = await readOutput(pool, child.runId, graph);
        return output_error === null ? { kind: 'output', output } : { kind: 'failed', ...output_error };
      }),
  };
}

const failure = (code: string, message: string): CallFailure => ({ kind: 'failed', code, message });

async function resolve(
  pool: Pool,
  { tenantId, projectId }: Attempt['run'],
  { workflowId, version: wanted, input }: CalledWorkflow,
  withheld: readonly string[],
): Promise<{ kind: 'callable'; version: number } | CallFailure> {
  const workflow = await findStartable(pool, { tenantId, projectId, workflowId });
  if (workflow === null) return failure('workflow_not_found', `The project has no workflow ${workflowId}.`);
  if (workflow.status === 'archived') return failure('workflow_archived', 'The called workflow is archived.');
  if (workflow.is_disabled) return failure('agent_disabled', 'The called agent is disabled.');
  const version = wanted ?? workflow.latest_version;
  if (version === null) return failure('no_published_version', 'The called workflow has no published version.');
  const ref = { tenantId, workflowId, version };
  if (wanted !== undefined && (await findGraph(pool, ref)) === null)
    return failure('version_not_found', `The called workflow has no version ${wanted}.`);
  const missing = await missingScope(pool, ref, withheld);
  if (missing !== null)
    return failure(
      'insufficient_scope',
      `The called workflow has ${missing.type} steps: its run takes the scope ${missing.scope}.`,
    );
  return (await inputProblem(pool, ref, input)) ?? { kind: 'callable', version };
}

async function inputProblem(
  pool: Pool,
  ref: { tenantId: string; workflowId: string; version: number },
  input: JsonMap,
): Promise<CallFailure | null> {
  const problem = storageProblem({ input });
  if (problem !== null) return failure('invalid_input', `${problem.path}: ${problem.message}`);
  try {
    await requireFittingInput(pool, ref, input);
    return null;
  } catch (error) {
    if (!(error instanceof AppError) || error.code !== 'invalid_input') throw error;
    const details = error.details?.slice(0, 5).map(({ path, message }) => `${path}: ${message}`) ?? [];
    return failure('invalid_input', `${error.message} ${details.join('; ')}`.trim());
  }
}

async function check(
  pool: Pool,
  scope: CheckScope,
  { workflowId, version }: { workflowId: string; version: number | undefined },
): Promise<StepProblem[]> {
  const { tenantId, projectId } = scope;
  const problem = (path: string, code: string, message: string): StepProblem[] => [{ path, code, message }];
  // A workflow that calls itself need not be published yet.
  if (workflowId === scope.workflowId) return problem('workflow_id', 'workflow_cycle', 'the workflow calls itself');
  const workflow = await findStartable(pool, { tenantId, projectId, workflowId });
  if (workflow === null) return problem('workflow_id', 'workflow_unknown', 'the project has no workflow of this id');
  if (workflow.status === 'archived') return problem('workflow_id', 'workflow_archived', 'the workflow is archived');
  const called = version ?? workflow.latest_version;
  if (called === null) return problem('workflow_id', 'workflow_unpublished', 'the workflow has no published version');
  if (version !== undefined && (await findGraph(pool, { tenantId, workflowId, version })) === null)
    return problem('version', 'version_unknown', 'the workflow has no such version');
  const reaches = await isCalledBy(pool, scope, { workflowId, version: called });
  return reaches
    ? problem('workflow_id', 'workflow_cycle', 'this workflow calls, directly or not, the one it is in')
    : [];
}
