import { operation } from '../../../operation/operation.ts';
import { editScope } from '../start/override-rights.ts';
import { CommandOutput } from '../start/schemas.ts';
import { startScopes } from '../start/step-scopes.ts';
import { RUNS } from '../tag.ts';
import { rerun } from './rerun.ts';
import { RerunInput } from './schemas.ts';

/** The operation that repeats or continues a run. */
export const rerunOperations = [
  operation({
    name: 'runs_rerun',
    startsRun: () => true,
    method: 'POST',
    path: '/v1/workflows/{id}/runs/{runID}/rerun',
    status: 200,
    tag: RUNS,
    summary: 'Run the same input again, from the start or from a step, also with another version',
    description: `Without \`from_step\` any run can be run again; with it only one that has ended: the new run is an episode of that step and
its descendants, seeded with the other results of the old run. It belongs to the same session. With the scope \`workflow:run\` alone, \`from_step\` must be one
that the old run began, and its overrides must be such as a start with that scope may make.
With \`version\` the old run is continued with the \`latest\` version, one by its number, or the \`draft\` (a test run), which needs \`workflow:write\`: \`from_step\`, steps that are
new, changed or did not end well, and all that depend on them are executed; the other steps keep their results.`,
    access: 'project_contributor',
    scope: 'workflow:run',
    scopesWhere: [...startScopes, editScope],
    input: RerunInput,
    output: CommandOutput,
    errors: [409, 503],
    headers: ['traceparent'],
    run: rerun,
  }),
] as const;
