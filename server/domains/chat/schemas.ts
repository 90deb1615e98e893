import { z } from 'zod';
import { Id, MAX_INTEGER, NameText, nextCursor, PlainText, page, Timestamp } from '../../operation/wire.ts';
import { PHASES, RUN_STATUSES } from '../../orchestrator/core/events.ts';
import { JsonValueSchema } from '../../platform/zod-json.ts';

const MAX_MESSAGE_CHARS = 100_000;
/** A hundred years, which is as good as unlimited. */
const MAX_RETENTION_DAYS = 36_500;
const MAX_DAILY_CREDITS = 1_000_000;

const Visibility = z.enum(['private', 'project']).meta({
  description: '`private`: listed for its owner alone. `project`: everybody in the project reads it and writes in it',
});
const Title = NameText(200);
export const MessageId = z
  .string()
  .regex(/^[A-Za-z0-9_-]{1,100}$/, 'must be 1 to 100 letters, digits, - or _')
  .meta({ description: 'Chosen by the client: a request that repeats it gets the same answer' });
const Text = PlainText(MAX_MESSAGE_CHARS).regex(/\S/, 'must not be blank');

const ThreadKind = z
  .enum(['chat', 'autopilot'])
  .meta({ description: '`autopilot`: the agent that works out changes of workflows answers' });
const AnswerStatus = z.enum(['queued', 'running', 'completed', 'failed', 'stopped', 'refused', 'withdrawn']);
export const ThreadRef = z.strictObject({ id: Id });
export const ThreadSchema = z.strictObject({
  id: Id,
  project_id: Id,
  owner_id: Id,
  title: z.string(),
  kind: ThreadKind,
  agent_id: Id.nullable().meta({ description: 'The agent that answers; null: an assistant without tools' }),
  model: z.string().nullable().meta({ description: 'The model of the assistant; null where an agent answers' }),
  workflow_id: Id.meta({ description: 'The runs of the answers are under /v1/workflows/{id}' }),
  visibility: Visibility,
  head_id: z.string().nullable().meta({ description: 'The last message of the branch that people see' }),
  message_count: z.number().int().meta({ description: 'Of all branches, answers included' }),
  active_run_id: Id.nullable().meta({ description: 'The run whose answer is being written, or is the next to be' }),
  awaits_person: z.boolean().meta({ description: 'That answer waits for an approval, or for an answer to a question' }),
  archived_at: Timestamp.nullable(),
  created_at: Timestamp,
  updated_at: Timestamp,
});
export const ListThreadsInput = z.strictObject({
  ...page,
  q: PlainText(200).optional().meta({ description: 'Part of the title' }),
  agent_id: Id.optional(),
  kind: ThreadKind.optional(),
  archived: z.enum(['true', 'false']).optional().meta({ description: 'Default: false' }),
});
export const ListThreadsOutput = z.strictObject({ threads: z.array(ThreadSchema), ...nextCursor });
export const CreateThreadInput = z.strictObject({
  title: Title.optional().meta({ description: 'Default: the beginning of the first message' }),
  agent_id: Id.optional().meta({ description: 'Who answers. Default: an assistant without tools' }),
  model: z.string().min(1).max(200).optional().meta({
    description: 'provider/model of the assistant, without `agent_id`. Default: the first model that has a key',
  }),
  visibility: Visibility.optional().meta({ description: 'Default: private' }),
});
export const PatchThreadInput = z.strictObject({
  id: Id,
  title: Title.optional(),
  visibility: Visibility.optional(),
  head_id: MessageId.optional().meta({ description: 'Shows the branch that ends with this answer' }),
});
export const ArchiveThreadInput = z.strictObject({
  id: Id,
  archived: z.boolean().optional().meta({ description: 'Default: true; false: people write in it again' }),
});
export const ForkThreadInput = z.strictObject({
  id: Id,
  message_id: MessageId.optional().meta({ description: 'The last answer of the copy. Default: the head' }),
  title: Title.optional(),
});

const ToolState = z.enum([
  'input-streaming',
  'input-available',
  'approval-requested',
  'approval-responded',
  'output-available',
  'output-error',
  'output-denied',
]);
/** The context of a message: a workflow, run or step in its state when the message was sent. */
export const ContextData = z.strictObject({
  workflow_id: Id,
  workflow_name: z.string(),
  run_id: Id.nullable(),
  run_status: z.string().nullable(),
  version: z.number().int().nullable().meta({ description: 'That the run executes' }),
  step_id: z.string().nullable().meta({ description: 'The step that was named, else the one at which the run failed' }),
  error: z
    .strictObject({ code: z.string(), message: z.string(), step_id: z.string() })
    .nullable()
    .meta({ description: 'Why the run failed' }),
});
export const ProposalData = z.strictObject({
  proposal_id: Id,
  workflow_id: Id.nullable(),
  title: z.string(),
  status: z.string(),
  edits: z.number().int(),
  valid: z.boolean(),
});
export const TrialData = z.strictObject({
  proposal_id: Id,
  workflow_id: Id,
  run_id: Id,
  verdict: z.enum(['proven', 'simulated', 'failed']).nullable(),
});
export const Part = z.discriminatedUnion('type', [
  z.strictObject({ type: z.literal('step-start') }),
  z.strictObject({
    type: z.literal('data-summary'),
    id: z.string(),
    data: z.strictObject({ text: z.string(), messages: z.number().int(), history: z.number().int() }),
  }),
  z.strictObject({
    type: z.literal('data-recall'),
    id: z.string(),
    data: z.strictObject({ memories: z.number().int() }),
  }),
  z.strictObject({
    type: z.literal('data-outside'),
    id: z.string(),
    data: z.strictObject({ place: z.string() }),
  }),
  z.strictObject({ type: z.literal('data-context'), data: ContextData }),
  z.strictObject({ type: z.literal('data-proposal'), id: z.string(), data: ProposalData }),
  z.strictObject({ type: z.literal('data-trial'), id: z.string(), data: TrialData }),
  z.strictObject({ type: z.literal('text'), text: z.string(), state: z.enum(['streaming', 'done']).optional() }),
  z.strictObject({ type: z.literal('reasoning'), text: z.string(), state: z.enum(['streaming', 'done']).optional() }),
  z.strictObject({
    type: z.literal('dynamic-tool'),
    toolCallId: z.string(),
    toolName: z.string(),
    state: ToolState,
    input: JsonValueSchema.optional(),
    output: JsonValueSchema.optional(),
    errorText: z.string().optional(),
    approval: z
      .strictObject({
        id: z.string(),
        approved: z.boolean().optional(),
        reason: z.string().optional().meta({ description: 'Who changed the arguments, and how' }),
      })
      .optional(),
  }),
]);
const AnswerError = z.strictObject({ code: z.string(), message: z.string() });
export const AnswerUsage = z.strictObject({
  input_tokens: z.number().int().meta({ description: 'Of all turns' }),
  output_tokens: z.number().int().meta({ description: 'Of all turns' }),
  context_tokens: z.number().int().meta({ description: 'What the last turn read and wrote' }),
  context_window: z.number().int().nullable().meta({ description: 'How much the model reads, in tokens' }),
  credits_microcredits: z.number().int().meta({ description: 'Of the whole answer; 0 for one that was copied' }),
});
/** A `UIMessage` of the AI SDK. */
export const MessageSchema = z.strictObject({
  id: z.string(),
  role: z.enum(['user', 'assistant']),
  parts: z.array(Part).meta({ description: 'Empty while the answer is being written: the stream has it' }),
  metadata: z.strictObject({
    parent_id: z.string().nullable(),
    status: z.union([z.literal('sent'), AnswerStatus]),
    run_id: Id.nullable(),
    error: AnswerError.nullable(),
    usage: AnswerUsage.nullable().meta({
      description: 'What an answer took; null until it has ended, and if nothing was written',
    }),
    sent_by: z.string().meta({ description: 'The address of who sent the message' }),
    created_at: Timestamp,
  }),
});
export const ListMessagesInput = z.strictObject({
  id: Id,
  ...page,
  order: z.enum(['asc', 'desc']).default('asc').meta({ description: 'asc: the oldest first' }),
});
export const ListMessagesOutput = z.strictObject({ messages: z.array(MessageSchema), ...nextCursor });

export const WhenBusy = z.enum(['queue', 'interrupt', 'reject']).default('queue').meta({
  description:
    'While an answer is being written: `queue` answers afterwards; `interrupt` stops that answer first; `reject` is 409 `thread_busy`',
});
export const MessageContext = z.strictObject({
  workflow_id: Id,
  run_id: Id.optional().meta({ description: 'A run of the workflow' }),
  step_id: z
    .string()
    .min(1)
    .max(200)
    .optional()
    .meta({ description: 'A step of the run, or of the draft without one' }),
});
export const Message = {
  text: Text,
  message_id: MessageId.optional(),
  context: MessageContext.optional().meta({
    description: 'What the message is about: the agent gets the names, and the error of the run. Needs workflow:read',
  }),
};
export const SendInput = z.strictObject({
  id: Id,
  ...Message,
  parent_id: MessageId.nullable().optional().meta({
    description:
      'The answer that the message follows; null: a new branch from the start. Default: the head. Any other answer than the head begins a branch',
  }),
  when_busy: WhenBusy,
});
export const RegenerateInput = z.strictObject({
  id: Id,
  message_id: MessageId.meta({ description: 'The message of a person that is to be answered once more' }),
  request_id: MessageId.optional(),
  when_busy: WhenBusy,
});
export const SentOutput = z.strictObject({
  thread_id: Id,
  message_id: z.string(),
  run_id: Id.meta({ description: 'Also the id of the answer' }),
  workflow_id: Id,
  status: AnswerStatus,
});
export const StreamInput = z.strictObject({
  id: Id,
  after: z
    .string()
    .regex(/^[0-9a-f-]{36}:\d{1,9}$/, 'must be the id of an event of this stream')
    .optional()
    .meta({ description: 'The id of the last event that the client has, without the header Last-Event-ID' }),
});
/** The maximum number of characters of one read, and the maximum time that a read waits. */
const MAX_READ_CHARS = 50_000;
const MAX_READ_WAIT_S = 30;
export const ReadAnswerInput = z.strictObject({
  id: Id,
  runID: Id,
  after: z.coerce
    .number<number>()
    .int()
    .min(0)
    .max(MAX_INTEGER)
    .default(0)
    .meta({ description: 'How much of the text is known: `next` of the answer before' }),
  max_chars: z.coerce.number<number>().int().min(100).max(MAX_READ_CHARS).default(8_000),
  wait_s: z.coerce
    .number<number>()
    .int()
    .min(0)
    .max(MAX_READ_WAIT_S)
    .default(0)
    .meta({ description: 'How long to wait while the run goes on; ends early with its next step' }),
  step_id: z.string().min(1).max(512).optional().meta({ description: 'Only the agent of this step. Default: all' }),
});
export const ReadAnswerOutput = z.strictObject({
  run_id: Id,
  status: z.enum(RUN_STATUSES),
  orchestration_phase: z.enum(PHASES),
  text: z.string(),
  next: z.number().int().meta({ description: 'To go on, read again with `after` set to it' }),
  length: z.number().int().meta({
    description: 'Of the whole text so far. Less than `after`: a turn began anew, and its text is another one',
  }),
  is_complete: z.boolean().meta({ description: 'Whether the run has ended and there is no more text' }),
});
/** A chunk of the AI SDK's UI message stream. */
export const StreamChunk = z.looseObject({ type: z.string() });
export const StopOutput = z.strictObject({
  thread_id: Id,
  stopped_run_id: Id.nullable().meta({ description: 'null: no answer was being written' }),
  withdrawn: z.number().int().meta({ description: 'Messages that were waiting for their answer, and get none' }),
});

const Model = z.string().min(1).max(200).meta({ description: 'provider/model' });
export const SettingsSchema = z.strictObject({
  daily_credits: z
    .number()
    .nullable()
    .meta({ description: 'What the chats of one person may cost a day; null: no limit' }),
  retention_days: z.number().int().nullable().meta({ description: 'null: threads are kept' }),
  assistant_model: z
    .string()
    .nullable()
    .meta({ description: 'Answers in threads without an agent or a model; null: the first model with a key' }),
  autopilot_model: z.string().nullable().meta({ description: 'The same for conversations with Autopilot' }),
  extraction_model: z
    .string()
    .nullable()
    .meta({ description: 'What the console offers first to extract memories with; null: the first model with a key' }),
  used_today: z.number().meta({ description: 'Credits that your chats have cost today' }),
  resets_at: Timestamp.meta({ description: 'When the next day begins, in UTC' }),
});
export const SettingsInput = z.strictObject({});
export const PatchSettingsInput = z.strictObject({
  daily_credits: z.number().min(0).max(MAX_DAILY_CREDITS).nullable().optional(),
  retention_days: z.number().int().min(1).max(MAX_RETENTION_DAYS).nullable().optional(),
  assistant_model: Model.nullable().optional(),
  autopilot_model: Model.nullable().optional(),
  extraction_model: Model.nullable().optional(),
});
