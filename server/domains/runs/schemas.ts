import { z } from 'zod';
import {
  AnyObject,
  Id,
  Instant,
  kindFilter,
  MAX_INTEGER,
  nextCursor,
  ObjectOfObjects,
  PlainText,
  page,
  Timestamp,
} from '../../operation/wire.ts';
import { PHASES, RUN_STATUSES } from '../../orchestrator/core/events.ts';
import {
  FIELD_FILTER,
  MAX_SEARCH_VALUE_LENGTH,
  MAX_SEARCHABLE_NAME_LENGTH,
} from '../../orchestrator/core/searchable.ts';
import { JsonValueSchema } from '../../platform/zod-json.ts';

const RunStatusSchema = z.enum(RUN_STATUSES);
const PhaseSchema = z.enum(PHASES);
export const StepStatusSchema = z.enum([
  'pending',
  'ready',
  'running',
  'retrying',
  'waiting',
  'sleeping',
  'completed',
  'failed',
  'cancelled',
  'skipped',
]);
const RunErrorSchema = z.strictObject({ code: z.string(), message: z.string(), step_id: z.string() });
export type RunError = z.output<typeof RunErrorSchema>;

export const RunSchema = z.strictObject({
  run_id: Id,
  workflow_id: Id,
  project_id: Id,
  workflow_name: z.string(),
  version: z.number().int().meta({ description: 'Negative for test runs, whose snapshot no list of versions shows' }),
  test: z.boolean().meta({ description: 'Whether the run was started from the draft as a test' }),
  status: RunStatusSchema,
  orchestration_phase: PhaseSchema,
  session_id: z.string(),
  run_complete: z.boolean(),
  trigger_type: z.string(),
  started_by: z.string(),
  started_at: Timestamp,
  ended_at: Timestamp.nullable(),
  error: RunErrorSchema.nullable(),
  steps_total: z.number().int(),
  steps_done: z.number().int(),
  steps_skipped: z.number().int().meta({ description: 'Steps of `steps_done` that did not run: skipped or reused' }),
  pending_tasks: z.number().int().meta({ description: 'Human tasks that wait for an answer' }),
  rerun_of: Id.nullable().meta({ description: 'The run that this one repeats or continues; null if it is no rerun' }),
  credits_microcredits: z.number().int(),
});
/** The ids of another run, for a link to it. */
export const RunLink = z.strictObject({ run_id: Id, workflow_id: Id });
const parent = RunLink.extend({ step_id: z.string() })
  .nullable()
  .meta({ description: 'The run and the step that called this one; null for a run that no step called' });
const childRun = RunLink.nullable().meta({
  description: 'The run that the step called last; null if it called none',
});
const StepErrorSchema = z.strictObject({
  code: z.string(),
  message: z.string(),
  details: JsonValueSchema.optional().meta({
    description: 'Further facts about the error, such as the answer of a tool or a server',
  }),
});
export const StepSummary = z.strictObject({
  step_id: z.string(),
  type: z.string(),
  name: z.string().nullable(),
  status: StepStatusSchema,
  attempt: z.number().int(),
  skip_reason: z.string().nullable(),
  started_at: Timestamp.nullable(),
  ended_at: Timestamp.nullable(),
  error: StepErrorSchema.nullable(),
  credits_microcredits: z.number().int().meta({ description: 'The total charge of its attempts' }),
  child_run: childRun,
});
/** Steps that the run added to its graph are counted, not listed: there may be 100,000. */
const AddedSteps = z
  .strictObject({ total: z.number().int(), done: z.number().int() })
  .meta({ description: 'Steps that the run added to its graph; `steps_total` and `steps_done` do not count them' });
const outputFields = {
  output: JsonValueSchema.meta({
    description: 'The output of a run that has completed, at most 4 MiB; otherwise null',
  }),
  output_error: z.strictObject({ code: z.string(), message: z.string() }).nullable().meta({
    description:
      'Why a run that has completed has no output: `template_unresolved`, `template_key_invalid` or `output_too_large`',
  }),
};
/** `last_seq` is the event after which a client continues with the stream (docs/specification/runs.md#run-record). */
export const RunSummary = RunSchema.extend({
  parent,
  last_seq: z.number().int(),
  added_steps: AddedSteps,
  ...outputFields,
  steps: z.array(StepSummary),
});

const AttemptSnapshot = z.strictObject({
  attempt: z.number().int(),
  started_at: Timestamp,
  ended_at: Timestamp.nullable(),
  outcome: z
    .enum(['running', 'waiting', 'completed', 'failed', 'cancelled', 'lost'])
    .meta({ description: '`lost`: the process ended during the attempt, and another attempt followed' }),
  error: StepErrorSchema.nullable(),
  credits_microcredits: z.number().int(),
});
export const StepSnapshot = z.strictObject({
  step_id: z.string(),
  status: StepStatusSchema,
  skip_reason: z.string().nullable().meta({ description: 'Why the step was skipped or cancelled' }),
  error: StepErrorSchema.nullable(),
  continues: z.boolean().meta({ description: 'Whether it failed and its dependents ran nevertheless (`on_error`)' }),
  reused: z.boolean().meta({
    description: 'Whether it was not executed because the start gave its result, as a rerun does',
  }),
  due_at: Timestamp.nullable().meta({ description: 'When a wait or the pause before the next attempt ends' }),
  task_name: z.string().nullable().meta({ description: 'The rendered name of the task, once a person was asked' }),
  ended_at: Timestamp.nullable(),
  credits_microcredits: z.number().int().meta({ description: 'The total charge of its attempts' }),
  child_run: childRun,
  attempts: z.array(AttemptSnapshot),
});
/** A step that an agent added. */
export const AgentStepSnapshot = StepSnapshot.extend({
  type: z.string().meta({ description: '`agent_turn`, `agent_tool` or `agent_approval`' }),
  depends_on: z.array(z.string()),
  tool: z.string().nullable().meta({ description: 'The tool of a call, or of the call that an approval is about' }),
  closing: z
    .string()
    .nullable()
    .meta({ description: 'For a turn that may not call tools: the limit that was reached' }),
});
/** The state of a run after the event `last_seq`: a client continues with the stream `after` it. */
export const RunSnapshot = RunSchema.extend({
  parent,
  failure_handler: RunLink.nullable().meta({
    description: 'The run that was started because this one failed (`on_failure`); null until it has started',
  }),
  failed_run: RunLink.nullable().meta({ description: 'The failed run that this run was started for (`on_failure`)' }),
  original: RunLink.extend({ from_step: z.string().nullable() })
    .nullable()
    .meta({ description: 'The run of `rerun_of` and the step from which it was repeated; null once it is deleted' }),
  reruns: z
    .array(RunLink.extend({ status: RunStatusSchema, started_at: Timestamp }))
    .meta({ description: 'The runs that repeat or continue this one, newest first, at most 20' }),
  pending_tasks: z.number().int(),
  last_seq: z.number().int(),
  added_steps: AddedSteps.extend({
    open: z.array(StepSnapshot).meta({
      description: 'Added steps that have started and not ended, at most 1,000',
    }),
    of_agents: z.array(AgentStepSnapshot).meta({
      description: 'Turns, calls and approvals of the agents of the graph, ended or not; the last 2,500',
    }),
  }),
  stopping: z.boolean().meta({ description: 'Whether a graceful stop was requested' }),
  pause_reason: z
    .string()
    .nullable()
    .meta({ description: 'Why the service paused the run; null if the service did not pause it' }),
  steps: z.array(StepSnapshot),
});

export const RunEventSchema = z.strictObject({
  seq: z.number().int(),
  event_type: z.string(),
  run_id: Id,
  workflow_id: Id,
  step_id: z.string().optional(),
  attempt: z.number().int().optional(),
  data: AnyObject,
  created_at: Timestamp,
});

/**
 * The input and the step results of a run: `steps` maps a step id to `{result}`. Large results are resolved up to 8 MiB
 * in total; beyond that `result` is null and `result_ref` says where the value can be read.
 */
export const RunContext = z.strictObject({
  run_id: Id,
  workflow_id: Id,
  version: z.number().int(),
  input: AnyObject,
  ...outputFields,
  steps: z.record(
    z.string(),
    z.strictObject({
      result: JsonValueSchema,
      result_ref: z.strictObject({ payload_id: Id, bytes: z.number().int() }).optional(),
    }),
  ),
});
/** One value that a step read: a field with resolved templates, or a value that its script or expression names. */
const ResolvedValue = z.strictObject({
  name: z.string().meta({ description: 'A field such as `prompt`, or a reference such as `steps.a.result.total`' }),
  value: JsonValueSchema,
  problem: z.string().nullable().meta({ description: 'Why there is no value' }),
});
export const RunStep = z.strictObject({
  run_id: Id,
  step_id: z.string(),
  definition: AnyObject.meta({ description: "The step of the run's version, with the overrides of this run" }),
  resolved: z.array(ResolvedValue),
  has_result: z.boolean(),
  result: JsonValueSchema,
  result_ref: z.strictObject({ payload_id: Id, bytes: z.number().int() }).optional(),
  reused: z
    .boolean()
    .meta({ description: 'Whether the result was given at the start: the result in the run of `rerun_of`' }),
});
export const RunRef = z.strictObject({ id: Id, runID: Id });
/** An added step has the ids of its parents before its own. */
export const RunStepInput = z.strictObject({ id: Id, runID: Id, step_id: z.string().min(1).max(512) });
export const PayloadInput = z.strictObject({ id: Id, runID: Id, payload_id: Id });
export const PayloadOutput = z.strictObject({ payload_id: Id, run_id: Id, body: JsonValueSchema });
export const RerunInput = z.strictObject({
  id: Id,
  runID: Id,
  from_step: z.string().min(1).max(64).optional(),
  version: z
    .union([z.enum(['latest', 'draft']), z.number().int().min(1).max(MAX_INTEGER)])
    .optional()
    .meta({ description: "With `from_step`: the version that continues the run; default: the run's own" }),
});

/** The longest path of a step: its id and the ids of two loops around it, with dots between them. */
const MAX_STEP_PATH = 3 * 64 + 2;

export const TestRunInput = z.strictObject({
  id: Id,
  params: AnyObject.default({}).meta({ description: 'The params of the `start` command' }),
  step: z.string().min(1).max(MAX_STEP_PATH).optional().meta({
    description: 'Runs only this step of the draft. A step in a loop is named with its loop, as in `each.fetch`',
  }),
  item: JsonValueSchema.optional().meta({
    description: 'With a `step` in a loop: the item that it reads, as the first and only one; default: null',
  }),
  results: AnyObject.optional().meta({
    description: 'With `step`: results of the steps before it, by their ids. A step without one has the result null',
  }),
  from_run: Id.optional().meta({
    description: 'With `step`: a run whose results and input are used where `results` and `params` give none',
  }),
});

export const CommandInput = z.strictObject({
  id: Id,
  command: z.enum(['start', 'pause', 'resume', 'stop']),
  params: AnyObject.default({}).meta({
    description: 'The input of a start, which must fit the `input_schema`; otherwise `run_id`',
  }),
});
/** `orchestration_phase` is present for pause, resume and stop. */
export const CommandOutput = z.strictObject({
  run_id: Id,
  status: RunStatusSchema,
  workflow_id: Id,
  started_at: Timestamp,
  orchestration_phase: PhaseSchema.optional(),
});

/** The longest wait for the end of a run, in seconds. */
export const MAX_WAIT_S = 60;
export const RunInput = z.strictObject({
  id: Id,
  wait_s: z.number().int().min(0).max(MAX_WAIT_S).default(0).meta({
    description: 'For how many seconds the answer waits for the end of the run; default 0: it does not wait',
  }),
  params: AnyObject.default({}).meta({
    description: 'The input, which must fit the `input_schema` of the workflow',
  }),
});
/** The answer to a start, with the output once the run has ended. */
export const RunResult = CommandOutput.omit({ orchestration_phase: true }).extend({
  output: JsonValueSchema.optional().meta({
    description: 'Present once the run has ended; null unless it has completed',
  }),
  output_error: outputFields.output_error.optional(),
  error: RunErrorSchema.nullable().optional().meta({ description: 'Why the run failed' }),
});

/** The filter for runs with a certain value of a searchable field. */
export const SearchableFilter = PlainText(MAX_SEARCHABLE_NAME_LENGTH + 1 + MAX_SEARCH_VALUE_LENGTH)
  .regex(FIELD_FILTER, 'must be the name of a searchable field, = and a value')
  .meta({ description: 'A searchable field and its exact value, such as `order_id=4711`' });

const runFilters = {
  ...page,
  status: RunStatusSchema.optional(),
  from: Instant.optional(),
  to: Instant.optional(),
  test: z.enum(['true', 'false', 'reruns']).optional().meta({
    description:
      'Only test runs, or no test runs; `reruns`: the only test runs are those that repeat another run; default: all runs',
  }),
  q: PlainText(200).optional().meta({
    description:
      'The beginning of a run id, session id, trigger type or searchable value, or a part of the name of the workflow',
  }),
  field: SearchableFilter.optional(),
};
export const ListTenantRunsInput = z.strictObject({
  ...runFilters,
  workflow_id: Id.optional().meta({ description: 'A workflow of any kind; `kind` is ignored' }),
  kind: kindFilter,
});
export const ListWorkflowRunsInput = z.strictObject({ id: Id, ...runFilters });
const ListedRun = RunSchema.extend({
  search_values: z.record(z.string(), z.string()).meta({ description: 'The values of its searchable fields' }),
  failed_step_name: z.string().nullable().meta({
    description: 'The name of the step that failed the run; null if no step failed it, or the step has no name',
  }),
});
export const ListRunsOutput = z.strictObject({ runs: z.array(ListedRun), ...nextCursor });

export const ListCalledRunsInput = z.strictObject({
  id: Id,
  runID: Id,
  ...page,
  step_id: z
    .string()
    .min(1)
    .max(512)
    .optional()
    .meta({ description: 'Only runs called by this step, or by a step that it added to the run' }),
});
export const CalledRun = RunLink.extend({
  step_id: z.string(),
  attempt: z.number().int(),
  run: RunSchema.nullable().meta({ description: 'Null before the called run has started and once it is deleted' }),
});
export const ListCalledRunsOutput = z.strictObject({ called_runs: z.array(CalledRun), ...nextCursor });

/** The params of pause, resume and stop. */
export const PauseParams = z.strictObject({ run_id: Id });
export const StopParams = z.strictObject({ run_id: Id, mode: z.enum(['immediate', 'graceful']).default('immediate') });

/** Text that fits a column and a log line. */
const Label = PlainText(200).min(1);
/** The reserved keys of a start's params (docs/specification/runs.md#start); all other keys are input. */
export const StartParams = z.looseObject({
  run_id: Id.optional().meta({
    description: 'The id of the new run: a random UUID (version 4 or 7). For derived names use Idempotency-Key',
  }),
  session_id: Label.optional(),
  mode: z.enum(['normal', 'episode']).default('normal'),
  trigger_type: Label.optional(),
  trigger_payload: AnyObject.optional(),
  webhook_payload: AnyObject.optional(),
  trigger_steps: ObjectOfObjects.default({}),
  seed_results: AnyObject.default({}),
  use_run_setup_defaults: z.boolean().optional(),
});
