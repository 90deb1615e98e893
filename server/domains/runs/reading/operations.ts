import { operation } from '../../../operation/operation.ts';
import { RunRef } from '../schemas.ts';
import { RUNS } from '../tag.ts';
import { listTenantRuns, listWorkflowRuns } from './list.ts';
import { ListRunsOutput, ListTenantRunsInput, ListWorkflowRunsInput, RunSnapshot, RunSummary } from './schemas.ts';
import { getSnapshot } from './snapshot.ts';
import { getSummary } from './summary.ts';

/** The operations that list runs and return their state. */
export const readingOperations = [
  operation({
    name: 'workflows_list_runs',
    method: 'GET',
    path: '/v1/workflows/{id}/runs',
    status: 200,
    tag: RUNS,
    summary: 'List the runs of one workflow, newest first',
    description: '`from` is inclusive, `to` exclusive; both are compared with `started_at`.',
    access: 'project_viewer',
    scope: 'workflow:read',
    input: ListWorkflowRunsInput,
    output: ListRunsOutput,
    mcp: { group: 'core' },
    run: listWorkflowRuns,
  }),
  operation({
    name: 'runs_list_tenant',
    method: 'GET',
    path: '/v1/runs',
    status: 200,
    tag: RUNS,
    summary: 'List the runs of the tenant, newest first',
    description: `All projects of the tenant that the user is a member of; to a \`tenant_admin\`, all. A token sees what its user sees here,
though it is bound to one project for everything else.`,
    access: 'project_viewer',
    scope: 'workflow:read',
    input: ListTenantRunsInput,
    output: ListRunsOutput,
    mcp: { group: 'core' },
    run: listTenantRuns,
  }),
  operation({
    name: 'runs_get_summary',
    method: 'GET',
    path: '/v1/workflows/{id}/runs/{runID}/summary',
    status: 200,
    tag: RUNS,
    summary: 'Get the state of a run, step by step',
    access: 'project_viewer',
    scope: 'workflow:read',
    input: RunRef,
    output: RunSummary,
    mcp: { group: 'core' },
    run: getSummary,
  }),
  operation({
    name: 'runs_get_snapshot',
    method: 'GET',
    path: '/v1/workflows/{id}/runs/{runID}/snapshot',
    status: 200,
    tag: RUNS,
    summary: 'Get the state of a run with every attempt of its steps',
    description: `As of the event \`last_seq\`: a stream with \`after\` set to it continues from exactly here. It holds neither the input nor results nor
logs, so that it stays small for large runs.`,
    access: 'project_viewer',
    scope: 'workflow:read',
    input: RunRef,
    output: RunSnapshot,
    run: getSnapshot,
  }),
] as const;
