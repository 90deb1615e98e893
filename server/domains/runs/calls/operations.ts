import { operation } from '../../../operation/operation.ts';
import { RUNS } from '../tag.ts';
import { listCalledRuns } from './called-runs.ts';
import { ListCalledRunsInput, ListCalledRunsOutput } from './schemas.ts';

/** The operation that lists the runs that a run called. */
export const callOperations = [
  operation({
    name: 'runs_list_called',
    method: 'GET',
    path: '/v1/workflows/{id}/runs/{runID}/called-runs',
    status: 200,
    tag: RUNS,
    summary: 'List the runs that a run has called, oldest first',
    description: `One for each call of a \`call_workflow\` step, also in loops, or of an agent's tool that is a workflow or an agent: a step that was retried has called several. A run that has called none has an empty list.`,
    access: 'project_viewer',
    scope: 'workflow:read',
    input: ListCalledRunsInput,
    output: ListCalledRunsOutput,
    run: listCalledRuns,
  }),
] as const;
