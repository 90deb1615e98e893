import { operation } from '../../../operation/operation.ts';
import { editScope } from '../start/override-rights.ts';
import { startScopes } from '../start/step-scopes.ts';
import { RUNS } from '../tag.ts';
import { runAndWait } from './run-and-wait.ts';
import { RunInput, RunResult } from './schemas.ts';

/** The operation that starts a run and waits for its output. */
export const waitingOperations = [
  operation({
    name: 'workflows_run',
    startsRun: () => true,
    method: 'POST',
    path: '/v1/workflows/{id}/run',
    status: 202,
    otherwise: {
      status: 200,
      description: 'The run has ended',
      where: ({ output }) => output !== undefined,
    },
    tag: RUNS,
    summary: 'Start a run and wait for its output',
    description: `Like \`start\`, but the answer waits up to \`wait_s\` seconds for the end of the run. A run that has ended is 200 with its \`status\`: \`output\` is that
of a completed run, \`error\` says why a run failed. Otherwise the answer is 202 with the \`run_id\`, and the run goes on. A client that leaves does not stop the run. 429 \`too_many_waiting\`
where too many requests of the workspace or the process wait; nothing is started then.`,
    access: 'project_contributor',
    scope: 'workflow:run',
    scopesWhere: [
      { scope: 'workflow:read', when: '`wait_s` is not 0: the answer has results' },
      ...startScopes,
      editScope,
    ],
    input: RunInput,
    query: ['wait_s'],
    output: RunResult,
    errors: [409, 503],
    headers: ['Idempotency-Key', 'traceparent'],
    mcp: { group: 'core', hints: { destructive: true, openWorld: true } },
    run: runAndWait,
  }),
] as const;
