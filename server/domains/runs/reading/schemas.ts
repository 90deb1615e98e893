import { z } from 'zod';
import { Id, Instant, kindFilter, nextCursor, PlainText, page, Timestamp } from '../../../operation/wire.ts';
import {
  FIELD_FILTER,
  MAX_SEARCH_VALUE_LENGTH,
  MAX_SEARCHABLE_NAME_LENGTH,
} from '../../../orchestrator/core/searchable.ts';
import {
  CallingStep,
  ChildRun,
  RunLink,
  RunSchema,
  RunStatusSchema,
  runOutputFields,
  StepErrorSchema,
  StepStatusSchema,
} from '../schemas.ts';

/** Steps that the run added to its graph are counted, not listed: there may be 100,000. */
const AddedSteps = z
  .strictObject({ total: z.number().int(), done: z.number().int() })
  .meta({ description: 'Steps that the run added to its graph; `steps_total` and `steps_done` do not count them' });
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
  child_run: ChildRun,
});
/** `last_seq` is the event after which a client continues with the stream (docs/specification/runs.md#run-record). */
export const RunSummary = RunSchema.extend({
  parent: CallingStep,
  last_seq: z.number().int(),
  added_steps: AddedSteps,
  ...runOutputFields,
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
  child_run: ChildRun,
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
  parent: CallingStep,
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
