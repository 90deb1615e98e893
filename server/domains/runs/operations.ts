import { operation, streamOperation } from '../../operation/operation.ts';
import { listCalledRuns } from './calls/called-runs.ts';
import { listEvents } from './events/list.ts';
import { ListEventsInput, ListEventsOutput, StreamEventsInput } from './events/schemas.ts';
import { streamEvents } from './events/stream.ts';
import { getLoopItems } from './loops/items.ts';
import { listTenantRuns, listWorkflowRuns } from './reading/list.ts';
import { getSnapshot } from './reading/snapshot.ts';
import { getSummary } from './reading/summary.ts';
import { rerun } from './reruns/rerun.ts';
import {
  CommandInput,
  CommandOutput,
  ListCalledRunsInput,
  ListCalledRunsOutput,
  ListRunsOutput,
  ListTenantRunsInput,
  ListWorkflowRunsInput,
  PayloadInput,
  PayloadOutput,
  RerunInput,
  RunContext,
  RunEventSchema,
  RunInput,
  RunRef,
  RunResult,
  RunSnapshot,
  RunStep,
  RunStepInput,
  RunSummary,
  TestRunInput,
} from './schemas.ts';
import { executeCommand } from './start/command.ts';
import { EDIT_SCOPE, editScope } from './start/override-rights.ts';
import { startScopes } from './start/step-scopes.ts';
import { getPrompt } from './steps/prompt.ts';
import { LoopItems, LoopItemsInput, RunPrompt } from './steps/schemas.ts';
import { getStep } from './steps/step.ts';
import { startTestRun } from './test-runs/test-run.ts';
import { getContext } from './values/context.ts';
import { getPayload } from './values/payload.ts';
import { runAndWait } from './waiting/run-and-wait.ts';

const tag = 'Runs';

/** The operations on runs. */
export const runOperations = [
  operation({
    name: 'workflows_execute_command',
    command: 'command',
    startsRun: ({ command }) => command === 'start',
    method: 'POST',
    path: '/v1/workflows/{id}/command',
    status: 200,
    tag,
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
    tag,
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
  operation({
    name: 'workflows_start_test_run',
    startsRun: () => true,
    method: 'POST',
    path: '/v1/workflows/{id}/test-runs',
    status: 200,
    tag,
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
  operation({
    name: 'workflows_list_runs',
    method: 'GET',
    path: '/v1/workflows/{id}/runs',
    status: 200,
    tag,
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
    tag,
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
    tag,
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
    tag,
    summary: 'Get the state of a run with every attempt of its steps',
    description: `As of the event \`last_seq\`: a stream with \`after\` set to it continues from exactly here. It holds neither the input nor results nor
logs, so that it stays small for large runs.`,
    access: 'project_viewer',
    scope: 'workflow:read',
    input: RunRef,
    output: RunSnapshot,
    run: getSnapshot,
  }),
  operation({
    name: 'runs_list_events',
    method: 'GET',
    path: '/v1/workflows/{id}/runs/{runID}/events',
    status: 200,
    tag,
    summary: 'Read the event log of a run, oldest first',
    description: `A list like every other, but for its \`limit\`; \`after\` reads on from an event's \`seq\`. Values over 16 KiB stand as \`<field>_ref: {payload_id, bytes}\`. A refused
start has one event, \`run_rejected\`.`,
    access: 'project_viewer',
    scope: 'workflow:read',
    input: ListEventsInput,
    output: ListEventsOutput,
    mcp: { group: 'core' },
    run: listEvents,
  }),
  streamOperation({
    name: 'runs_stream_events',
    path: '/v1/workflows/{id}/runs/{runID}/stream',
    tag,
    summary: 'Watch the events of a run live (server-sent events)',
    description: `Each event is one server-sent event with its \`seq\` as \`id\`: first those of the log after \`Last-Event-ID\` or \`after\`, then each as it is committed, until
the run has ended. A client that comes back with the last id that it has misses nothing; 204 tells it that the run has ended and it has all
events. Comments keep the connection open; a client that is 1 MiB behind is cut off.`,
    access: 'project_viewer',
    scope: 'workflow:read',
    headers: ['Last-Event-ID'],
    input: StreamEventsInput,
    output: RunEventSchema,
    run: streamEvents,
  }),
  operation({
    name: 'runs_list_called',
    method: 'GET',
    path: '/v1/workflows/{id}/runs/{runID}/called-runs',
    status: 200,
    tag,
    summary: 'List the runs that a run has called, oldest first',
    description: `One for each call of a \`call_workflow\` step, also in loops, or of an agent's tool that is a workflow or an agent: a step that was retried has called several. A run that has called none has an empty list.`,
    access: 'project_viewer',
    scope: 'workflow:read',
    input: ListCalledRunsInput,
    output: ListCalledRunsOutput,
    run: listCalledRuns,
  }),
  operation({
    name: 'runs_get_context',
    method: 'GET',
    path: '/v1/workflows/{id}/runs/{runID}/context',
    status: 200,
    tag,
    summary: "Get a run's input and the results of its steps",
    description:
      'Large results are included up to 8 MiB in all; beyond that `result` is null and `result_ref` names the payload.',
    access: 'project_viewer',
    scope: 'workflow:read',
    input: RunRef,
    output: RunContext,
    mcp: { group: 'core' },
    run: getContext,
  }),
  operation({
    name: 'runs_get_step',
    method: 'GET',
    path: '/v1/workflows/{id}/runs/{runID}/steps/{step_id}',
    status: 200,
    tag,
    summary: 'Get one step of a run: its definition, resolved values and result',
    description: `\`resolved\` holds the fields that have templates, with the values of this run, and the values that a script or an expression names. A value of more than 64 KiB is left out,
with the reason in \`problem\`. A result of more than 4 MiB is a \`result_ref\`.`,
    access: 'project_viewer',
    scope: 'workflow:read',
    input: RunStepInput,
    output: RunStep,
    run: getStep,
  }),
  operation({
    name: 'runs_get_loop_items',
    method: 'GET',
    path: '/v1/workflows/{id}/runs/{runID}/steps/{step_id}/items',
    status: 200,
    tag,
    summary: 'Get how the items of a loop went, and which of them failed',
    description: `Up to 100 items with their steps and attempts, from the item \`from\` on. A loop in a loop is named with its item, as in \`each.3.inner\`. 404 for a step
that is no loop.`,
    access: 'project_viewer',
    scope: 'workflow:read',
    input: LoopItemsInput,
    output: LoopItems,
    run: getLoopItems,
  }),
  operation({
    name: 'runs_get_prompt',
    method: 'GET',
    path: '/v1/workflows/{id}/runs/{runID}/steps/{step_id}/prompt',
    status: 200,
    tag,
    summary: 'Read what a turn of an agent sent its model',
    description: `Of a turn, or of a compaction of a conversation: the messages and tools as they were sent, made again from the log. A part of more than 64 KiB
is shown without its middle. 404 for any other step, and for one that has not been started.`,
    access: 'project_viewer',
    scope: 'workflow:read',
    input: RunStepInput,
    output: RunPrompt,
    run: getPrompt,
  }),
  operation({
    name: 'runs_get_payload',
    method: 'GET',
    path: '/v1/workflows/{id}/runs/{runID}/payloads/{payload_id}',
    status: 200,
    tag,
    summary: 'Read one large value that an event refers to',
    access: 'project_viewer',
    scope: 'workflow:read',
    input: PayloadInput,
    output: PayloadOutput,
    run: getPayload,
  }),
  operation({
    name: 'runs_rerun',
    startsRun: () => true,
    method: 'POST',
    path: '/v1/workflows/{id}/runs/{runID}/rerun',
    status: 200,
    tag,
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
