import { z } from 'zod';
import { AnyObject, Id, NameText, nextCursor, PlainText, page, Timestamp } from '../../operation/wire.ts';
import { MAX_BUDGET_CREDITS, MIN_BUDGET_CREDITS } from '../../orchestrator/steps/agent/settings.ts';
import { JsonValueSchema } from '../../platform/zod-json.ts';
import { Message, MessageId, StreamInput, WhenBusy } from '../chat/schemas.ts';
import { MAX_WAIT_S } from '../runs/waiting/schemas.ts';
import { DiffVersionsOutput, EditSchema, FieldChange, MAX_EDITS } from '../workflows/edit-schemas.ts';
import {
  Description,
  GraphSchema,
  RunSetupSchema,
  ValidationReport,
  WorkflowName,
  WorkflowSchema,
} from '../workflows/schemas.ts';

/** The maximum number of edits of a proposal over all requests. */
export const MAX_PROPOSAL_EDITS = 1_000;
/** The maximum number of bytes of the edits of a proposal as JSON. */
export const MAX_PROPOSAL_BYTES = 4 * 1024 * 1024;
/** The maximum number of open proposals of a project. */
export const MAX_OPEN_PROPOSALS = 100;
/** The number of consecutive answers with errors after which a proposal needs input. */
export const MAX_ROUNDS = 6;

/** The statuses of a proposal that can be changed, tried and applied. */
export const OPEN_STATUSES = ['building', 'ready', 'needs_input'] as const;
export const ProposalStatus = z.enum([...OPEN_STATUSES, 'applied', 'undone', 'discarded', 'superseded']);
export type ProposalStatus = z.output<typeof ProposalStatus>;

const Edits = z.array(EditSchema).min(1).max(MAX_EDITS);
const StepIds = z.array(z.string().max(200)).min(1).max(2_000);

const DraftSchema = z.strictObject({
  name: WorkflowName,
  description: Description,
  graph: GraphSchema,
  run_setup: RunSetupSchema,
});
const DraftDiff = DiffVersionsOutput.extend({
  details: z.array(FieldChange).meta({ description: '`name` and `description`, where they differ' }),
});
const Conflict = z.strictObject({
  step: z.string().nullable().meta({ description: 'null: something outside of the steps' }),
  field: z.string().nullable().meta({ description: 'null: the whole step, which one side removed' }),
  base: JsonValueSchema.optional().meta({ description: 'What both sides started from' }),
  proposal: JsonValueSchema.optional().meta({ description: 'Absent where the proposal has no such step or field' }),
  draft: JsonValueSchema.optional().meta({ description: 'Absent where the draft has no such step or field' }),
});

/** The answer of a person, in the words of the client. */
const Answer = PlainText(2_000).optional().meta({
  description:
    'What a person has answered to the question that the proposal needs input for. A client without a session sends it with the next edits',
});
export const ProposalChangeSchema = z.strictObject({
  by: z.string(),
  by_agent: z.boolean().meta({ description: 'Whether an agent made it for this person' }),
  edits: z.number().int().meta({ description: 'How many edits, of requests in succession' }),
  at: Timestamp.meta({ description: 'When the last of them was made' }),
  answer: z.string().nullable().meta({ description: 'What the client says that a person has answered' }),
});

const head = {
  id: Id,
  etag: z.string().meta({
    description: 'Names the state of the proposal. Applying it and trying it for real need the one that was reviewed',
  }),
  tenant_id: z.string(),
  project_id: Id,
  workflow_id: Id.nullable().meta({ description: 'null: it makes a new workflow, until it is applied' }),
  title: z.string(),
  status: ProposalStatus,
  base_revision: z
    .number()
    .int()
    .nullable()
    .meta({ description: 'The revision of the draft that it was made from; null: it makes a new workflow' }),
  edits: z.number().int().meta({ description: 'How many edits it consists of' }),
  valid: z.boolean().meta({ description: 'Whether the proposed draft could be published' }),
  rounds: z.number().int().meta({
    description: 'How many answers in succession have left errors or refused an edit; after 6 it needs input',
  }),
  applied_revision: z.number().int().nullable(),
  applied_by: z.string().nullable(),
  applied_at: Timestamp.nullable(),
  thread_id: Id.nullable().meta({ description: 'The conversation in which an agent made it, under /v1/chat/threads' }),
  message_id: Id.nullable().meta({ description: 'The answer that made it, which is also its run' }),
  created_by: z.string(),
  created_at: Timestamp,
  updated_at: Timestamp,
};
export const ProposalHead = z.strictObject(head);
export const ProposalSchema = z.strictObject({
  ...head,
  draft: DraftSchema.meta({ description: 'What it proposes' }),
  diff: DraftDiff.meta({ description: 'What leads from the draft that it was made from to what it proposes' }),
  validation: ValidationReport,
  changes: z.array(ProposalChangeSchema).meta({ description: 'Who has made and changed it, in their order' }),
  written_after_reading: z.string().nullable().meta({
    description:
      'What a model had read before it wrote the proposal or a part of it, such as `memory_search`: text of that could be in it, so that a trial sends no request that no person has seen. `unknown`: an assistant over MCP. null: nothing private, and nothing from outside',
  }),
  tried: z.boolean().meta({ description: 'Whether it has been tried: then there is a last trial to read' }),
  conflicts: z.array(Conflict).meta({
    description: 'What the draft has changed since, differently: applying it is a 409 until these are gone',
  }),
});

export const ProposalRef = z.strictObject({ id: Id });
export const ProposeInput = z.strictObject({
  workflow_id: Id.optional().meta({ description: 'The workflow to change; absent: a new one' }),
  title: NameText(200).meta({ description: 'What it is for, in a few words' }),
  edits: Edits.optional(),
  supersedes: Id.optional().meta({ description: 'An open proposal that this one replaces' }),
  answer: Answer,
});
export const ListProposalsInput = z.strictObject({
  ...page,
  workflow_id: Id.optional(),
  thread_id: Id.optional().meta({ description: 'Those that an agent has made in this conversation' }),
  status: ProposalStatus.optional(),
});
export const ListProposalsOutput = z.strictObject({ proposals: z.array(ProposalHead), ...nextCursor });
export const EditProposalInput = z.strictObject({ id: Id, edits: Edits, answer: Answer });
/** The state of the proposal that a person has reviewed. */
const Reviewed = z.string().max(200).optional().meta({
  description:
    'The `etag` of the proposal as it was reviewed; needed unless If-Match names it. 412 if the proposal has changed since',
});
export const ApplyProposalInput = z.strictObject({
  id: Id,
  etag: Reviewed,
  draft_etag: z.string().max(200).optional().meta({
    description: 'The `etag` of the workflow: the proposal is applied to that state of the draft alone',
  }),
  steps: StepIds.optional().meta({
    description: 'Applies the changes of these steps alone; absent: everything, also what changes outside of the steps',
  }),
});
export const ChangedWorkflow = z.strictObject({
  proposal: ProposalHead,
  workflow: WorkflowSchema,
  changed: z.boolean().meta({ description: 'false: the draft was as wanted already, so that nothing was written' }),
});

/** The maximum number of checks of a trial. */
export const MAX_CHECKS = 50;
const CHECK_OPS = [
  'equals',
  'not_equals',
  'contains',
  'exists',
  'absent',
  'at_least',
  'at_most',
  'completed',
  'skipped',
] as const;
export const Check = z.strictObject({
  step: z.string().max(200).meta({ description: 'The step whose result is checked; not one of a loop' }),
  path: PlainText(500)
    .default('')
    .meta({ description: 'Where in the result, such as `items[0].name`; empty: the whole result' }),
  op: z.enum(CHECK_OPS),
  value: JsonValueSchema.optional().meta({ description: 'What the value is compared with' }),
});
export const CheckResult = z.strictObject({
  ...Check.shape,
  path: z.string(),
  result: z.enum(['proven', 'simulated', 'failed']),
  reason: z.string().nullable().meta({ description: 'Why it failed' }),
  actual: JsonValueSchema.optional().meta({ description: 'What the value is, unless it is long' }),
});
export const StandInSchema = z.strictObject({
  step: z.string().meta({ description: 'For a step of a loop: the loop' }),
  type: z.string(),
  why: z.enum(['writes', 'sends', 'asks_people', 'waits', 'starts_runs', 'unknown_tool', 'unseen']).meta({
    description: '`unseen`: it would send what a model wrote that had read private text or text from outside',
  }),
  hosts: z.array(z.string()).nullable().meta({
    description: 'Where it would send something; null: the run decides, so that a trial never executes it for real',
  }),
  source: z
    .enum(['recorded', 'example'])
    .meta({ description: 'Its result: that of the last run, or an example of what it could be' }),
});
export const TryProposalInput = z.strictObject({
  id: Id,
  input: AnyObject.optional().meta({ description: 'The input of the run; default: that of the run setup' }),
  checks: z.array(Check).min(1).max(MAX_CHECKS).meta({ description: 'What the trial has to show' }),
  from_run: Id.optional().meta({
    description: 'A run of the workflow: the trial continues it, with its input and the results of the steps before',
  }),
  from_step: z
    .string()
    .max(200)
    .optional()
    .meta({ description: 'With `from_run`: the step from which on the proposal is executed' }),
});
export const TryLiveInput = z.strictObject({
  id: Id,
  etag: Reviewed,
  hosts: z.array(z.string().max(300)).max(2_000).default([]).meta({
    description: 'Each host to which the steps of `really` may send something, as their `hosts` name them',
  }),
  really: z.array(z.string().max(200)).min(1).max(2_000).meta({
    description:
      'Steps that the last trial has replaced, or executed for real, and that are executed this time: they write, send and ask',
  }),
  budget_credits: z.number().min(MIN_BUDGET_CREDITS).max(MAX_BUDGET_CREDITS).meta({
    description: 'Above this the run is stopped; its agents have it as their budget',
  }),
  input: TryProposalInput.shape.input,
  checks: TryProposalInput.shape.checks,
  from_run: TryProposalInput.shape.from_run,
  from_step: TryProposalInput.shape.from_step,
});
export const LiveSchema = z.strictObject({
  really: z.array(z.string()),
  budget_credits: z.number(),
  executed: z
    .array(StandInSchema.omit({ source: true }))
    .meta({ description: 'The steps of `really` that the run continues with, and why a trial replaces them' }),
});
export const GetTrialInput = z.strictObject({
  id: Id,
  wait_s: z.number().int().min(0).max(MAX_WAIT_S).optional().meta({
    description: 'How many seconds to wait for the end of the run, and so for the verdict. Default: 0',
  }),
});
export const StepTypesInput = z.strictObject({
  type: z.string().max(100).optional().meta({ description: 'The type to describe in full; absent: a line for each' }),
});
export const StepTypesOutput = z.strictObject({
  step_types: z.array(
    z.strictObject({
      type: z.string(),
      label: z.string(),
      what: z.string(),
      result: z.string().meta({ description: 'What later steps read' }),
      available: z.boolean().meta({ description: 'Whether this deployment can execute it' }),
      facts: z.array(z.string()).optional(),
      fields: AnyObject.optional().meta({ description: 'JSON Schema of the fields of the type itself' }),
      common_fields: AnyObject.optional().meta({ description: 'JSON Schema of the fields that all types have' }),
      example: GraphSchema.optional().meta({ description: 'A graph in which the step `example` has this type' }),
    }),
  ),
});
export const FindToolsInput = z.strictObject({
  ...page,
  q: PlainText(200).optional().meta({ description: "Part of the tool's name, title or description" }),
  tool: PlainText(200).optional().meta({ description: 'The name of the tool to describe in full, with its schemas' }),
});
export const FindToolsOutput = z.strictObject({
  tools: z.array(
    z.strictObject({
      name: z.string(),
      title: z.string().nullable(),
      description: z.string().nullable().meta({ description: 'The words of the server; cut off without `tool`' }),
      read_only: z.boolean().meta({ description: 'Whether the server says that it changes nothing' }),
      server: z.strictObject({ id: Id, name: z.string() }),
      instances: z
        .array(z.strictObject({ id: Id, name: z.string() }))
        .meta({ description: 'The instances of this project that offer it: without one it cannot be called' }),
      input_schema: AnyObject.optional().meta({ description: 'With `tool`: JSON Schema of the arguments' }),
      output_schema: AnyObject.nullable().optional().meta({ description: 'With `tool`; null: the server has none' }),
    }),
  ),
  ...nextCursor,
});
export const TrialSchema = z.strictObject({
  proposal_id: Id,
  workflow_id: Id.meta({
    description: 'A workflow of the kind `trial`: the run is under `/v1/workflows/{workflow_id}`',
  }),
  run_id: Id,
  run_status: z.string().nullable().meta({ description: 'null: the run is not kept any more' }),
  verdict: z.enum(['proven', 'simulated', 'failed']).nullable().meta({
    description: 'null: the run has not ended. The worst of the checks; `failed` if the run has not completed',
  }),
  checks: z.array(CheckResult).meta({ description: 'Empty until the run has ended' }),
  stand_ins: z.array(StandInSchema).meta({ description: 'Steps that were not executed' }),
  live: LiveSchema.nullable().meta({
    description: 'Steps that a person let the trial execute though they write, send or ask, and its budget; else null',
  }),
  from_run: Id.nullable().meta({ description: 'The run that it continues; null: it is one from the beginning' }),
  from_step: z.string().nullable(),
  current: z.boolean().meta({ description: 'Whether the proposal is still the one that was tried' }),
  started_by: z.string(),
  started_at: Timestamp,
});

export const AutopilotChatInput = z.strictObject({
  ...Message,
  thread_id: Id.optional().meta({ description: 'A conversation with Autopilot. Default: a new one' }),
  model: z.string().min(1).max(200).optional().meta({
    description: 'provider/model, for a new conversation. Default: the first model that has a key',
  }),
  parent_id: MessageId.nullable().optional().meta({
    description: 'The answer that it follows. Default: the head of the thread',
  }),
  when_busy: WhenBusy,
});
export const AutopilotStreamInput = z.strictObject({
  thread_id: Id.optional().meta({ description: 'Default: your conversation with Autopilot that changed last' }),
  after: StreamInput.shape.after,
});
