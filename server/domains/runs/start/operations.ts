import { operation } from '../../../operation/operation.ts';
import { RUNS } from '../tag.ts';
import { executeCommand } from './command.ts';
import { editScope } from './override-rights.ts';
import { CommandInput, CommandOutput } from './schemas.ts';
import { startScopes } from './step-scopes.ts';

/** The operation that starts, pauses, resumes and stops runs. */
export const startOperations = [
  operation({
    name: 'workflows_execute_command',
    command: 'command',
    startsRun: ({ command }) => command === 'start',
    method: 'POST',
    path: '/v1/workflows/{id}/command',
    status: 200,
    tag: RUNS,
    summary: 'Start a run, or pause, resume or stop one',
    description: `\`start\` runs the latest published version. The run's input is \`params.trigger_payload\`, with the free-form keys of
\`params\` over it. Saved run-setup defaults are merged beneath where \`use_run_setup_defaults\` is true; where it is absent, the version's
\`run_setup.use_as_default\` decides (default: not merged). Overrides in \`trigger_steps\` are
checked like the fields of a step that is published. With the scope \`workflow:run\` alone they may grant entry to a gated step, change the fields
that the step lists in \`overridable\`, and fill templates of the input in \`tool_args\` or \`prompt\` of a step without dependencies; every
other field takes \`workflow:write\` (403, with the fields in \`details\`), and so do \`seed_results\`, and an episode that leaves out a
\`condition\` or \`human_task\` before one of its steps. \`assignees\`, \`form\`, \`on_timeout\`, \`timeout_s\`, \`disabled\` and \`gated\` of a \`human_task\` cannot be overridden (422). A refused start is 422 (429 for \`too_many_active_runs\`) with its \`code\`, and is kept as a
\`run_rejected\` event. \`pause\`, \`resume\` and \`stop\` take \`params.run_id\`; \`stop\` also \`mode\`: \`immediate\` (default) or \`graceful\`.
\`params.run_id\` names the id of the new run: a random UUID (version 4 or 7). An id is unique in the whole deployment: an id that any
workspace uses is 409 \`run_id_taken\`, and an id that is derived from a name could be taken by others. To start one run per name, send an
\`Idempotency-Key\`, which belongs to the workspace and workflow.
With an \`Idempotency-Key\`, a start that was answered 200 is answered the same for 24 hours; a refused one may be asked again.`,
    access: 'project_contributor',
    scope: 'workflow:run',
    scopesWhere: [...startScopes, editScope],
    input: CommandInput,
    output: CommandOutput,
    errors: [409, 503],
    headers: ['Idempotency-Key', 'traceparent'],
    mcp: { group: 'core', hints: { destructive: true, openWorld: true } },
    run: executeCommand,
  }),
] as const;
