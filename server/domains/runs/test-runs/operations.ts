import { operation } from '../../../operation/operation.ts';
import { EDIT_SCOPE } from '../start/override-rights.ts';
import { CommandOutput } from '../start/schemas.ts';
import { startScopes } from '../start/step-scopes.ts';
import { RUNS } from '../tag.ts';
import { TestRunInput } from './schemas.ts';
import { startTestRun } from './test-run.ts';

/** The operation that runs a draft. */
export const testRunOperations = [
  operation({
    name: 'workflows_start_test_run',
    startsRun: () => true,
    method: 'POST',
    path: '/v1/workflows/{id}/test-runs',
    status: 200,
    tag: RUNS,
    summary: 'Run the draft, or one step of it, without publishing',
    description: `What runs is a snapshot of the draft that only test runs use. The run is like any other, and is charged like any other; it has \`test: true\`
and a negative \`version\`. With \`step\`, that step alone is executed, disabled or not: the steps before it have the results that are given in \`results\` or come
from the run \`from_run\`, and need not be complete. A step in a loop is named with it, as in \`each.fetch\`, and reads \`item\`. An invalid draft is 422 \`invalid_graph\` with every problem in \`details\`.`,
    access: 'project_contributor',
    scope: 'workflow:run',
    scopesWhere: [...startScopes, { scope: EDIT_SCOPE, when: 'always: a draft is for those who can edit it' }],
    input: TestRunInput,
    output: CommandOutput,
    errors: [409, 503],
    headers: ['Idempotency-Key', 'traceparent'],
    mcp: { group: 'core', hints: { destructive: true, openWorld: true } },
    run: startTestRun,
  }),
] as const;
