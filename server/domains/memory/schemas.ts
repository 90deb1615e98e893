import { z } from 'zod';
import { Id, Instant, MAX_INTEGER, NameText, nextCursor, PlainText, page, Timestamp } from '../../operation/wire.ts';
import { JsonValueSchema } from '../../platform/zod-json.ts';

export const ITEM_KINDS = ['fact', 'preference', 'instruction', 'procedure', 'outcome'] as const;
export type ItemKind = (typeof ITEM_KINDS)[number];
/** A `proposed` item waits for review. A `superseded` item was true until another item of its subject replaced it. */
const ITEM_STATUSES = ['proposed', 'active', 'rejected', 'superseded'] as const;
export type ItemStatus = (typeof ITEM_STATUSES)[number];
/** `untrusted` text comes from tools, webhooks or files, or no quote states it. Models receive it as quoted data. */
export const TRUSTS = ['trusted', 'untrusted'] as const;
export type Trust = (typeof TRUSTS)[number];
const EPISODE_SOURCES = ['thread', 'run', 'file', 'note'] as const;
export type EpisodeSource = (typeof EPISODE_SOURCES)[number];
const TURN_ROLES = ['user', 'assistant', 'tool'] as const;
export const SEARCH_KINDS = [...ITEM_KINDS, 'episode'] as const;

/** A copy of VISIBILITIES in scope.ts, which the console cannot import. A test compares the two. */
export const visibilities = ['private', 'project', 'workspace'] as const;
const VisibilityField = z.enum(visibilities).meta({
  description:
    '`private`: yours alone, in this project. `project`: of everybody in it. `workspace`: of every project; tenant_admin writes it.',
});

export const MAX_TURNS = 500;
const MAX_TURN_LENGTH = 100_000;
const MAX_ITEM_LENGTH = 2_000;
const MAX_QUOTE_LENGTH = 1_000;
export const MAX_QUERY_LENGTH = 1_000;
const MAX_ITEMS_PER_CALL = 50;

const Attachment = {
  workflow_id: Id.optional().meta({ description: 'The workflow that it is about' }),
  agent_id: Id.optional().meta({ description: 'The agent that it is about' }),
};

export const IndexConversationInput = z.strictObject({
  thread_id: NameText(200)
    .optional()
    .meta({ description: 'Names the conversation; episodes of one thread follow each other. Needed without `run_id`' }),
  run_id: Id.optional().meta({
    description: 'Instead of `thread_id`, with `workflow_id`: the run whose input, results and answers the turns are',
  }),
  title: NameText(200).optional(),
  turns: z
    .array(
      z.strictObject({
        role: z.enum(TURN_ROLES).meta({ description: 'Text of a `tool` is untrusted' }),
        text: PlainText(MAX_TURN_LENGTH).regex(/\S/, 'must not be blank'),
        occurred_at: Instant.optional(),
      }),
    )
    .min(1)
    .max(MAX_TURNS),
  occurred_at: Instant.optional().meta({ description: 'Default: now' }),
  visibility: VisibilityField.default('private'),
  ...Attachment,
});
export const IndexFileInput = z.strictObject({
  path: NameText(500).meta({ description: 'Names the file; a new text replaces the one before' }),
  content: PlainText(1024 * 1024).regex(/\S/, 'must not be blank'),
  media_type: z
    .string()
    .max(100)
    .regex(/^(text\/[\w.+-]+|application\/(json|yaml|xml|[\w.-]+\+(json|xml)))$/, 'must be a text type')
    .default('text/plain'),
  occurred_at: Instant.optional().meta({ description: 'Default: now' }),
  visibility: VisibilityField.default('project'),
  ...Attachment,
});
export const IndexOutput = z.strictObject({
  episode_id: Id,
  chunks: z.number().int(),
  deduplicated: z.boolean().meta({ description: 'The same content was there already; nothing was added' }),
});

const EpisodeSummary = z.strictObject({
  id: Id,
  source: z.enum(EPISODE_SOURCES),
  source_ref: z.string().meta({ description: 'The thread, the path of the file or the run' }),
  title: z.string(),
  trust: z.enum(TRUSTS),
  visibility: z.enum(visibilities),
  workflow_id: Id.nullable(),
  agent_id: Id.nullable(),
  occurred_at: Timestamp,
  created_at: Timestamp,
});
const Chunk = z.strictObject({
  id: Id,
  position: z.number().int(),
  role: z.enum([...TURN_ROLES, 'text']),
  trust: z.enum(TRUSTS),
  text: z.string(),
  occurred_at: Timestamp,
});
export const Episode = EpisodeSummary.extend({ chunks: z.array(Chunk) });
export const GetEpisodeInput = z.strictObject({
  id: Id,
  around: Id.optional().meta({ description: 'A chunk of it: the chunks before and after that one' }),
  limit: z.coerce.number<number>().int().min(1).max(200).default(50).meta({ description: 'Chunks at most' }),
  from: z.coerce.number<number>().int().min(0).max(MAX_INTEGER).default(0).meta({ description: 'The first position' }),
});
export const GetEpisodeOutput = Episode.extend({
  next_from: z.number().int().nullable().meta({ description: 'Where the rest begins; null: that was all' }),
});
export const ContinuationInput = z.strictObject({
  id: Id,
  limit: z.coerce.number<number>().int().min(1).max(200).default(50).meta({ description: 'Chunks at most' }),
});
export const ContinuationOutput = z.strictObject({
  episodes: z.array(Episode).meta({ description: 'What followed in the same thread or file, oldest first' }),
});
export const ListEpisodesInput = z.strictObject({ ...page, visibility: z.enum(visibilities).optional() });
export const ListEpisodesOutput = z.strictObject({ episodes: z.array(EpisodeSummary), ...nextCursor });

const Evidence = z.strictObject({
  chunk_id: Id,
  episode_id: Id,
  quote: z.string(),
  trust: z.enum(TRUSTS),
  added_at: Timestamp,
});
export const Item = z.strictObject({
  id: Id,
  subject: z.string(),
  kind: z.enum(ITEM_KINDS),
  text: z.string(),
  status: z.enum(ITEM_STATUSES),
  trust: z.enum(TRUSTS),
  author: z.enum(['person', 'machine']),
  confidence: z.number(),
  pinned: z.boolean(),
  visibility: z.enum(visibilities),
  workflow_id: Id.nullable(),
  agent_id: Id.nullable(),
  valid_from: Timestamp,
  valid_to: Timestamp.nullable(),
  supersedes: Id.nullable(),
  superseded_by: Id.nullable(),
  expires_at: Timestamp.nullable(),
  uses: z.number().int(),
  last_used_at: Timestamp.nullable(),
  created_by: Id,
  created_at: Timestamp,
  confirmed_by: Id.nullable(),
  confirmed_at: Timestamp.nullable(),
  updated_at: Timestamp,
});
export const ItemWithEvidence = Item.extend({ evidence: z.array(Evidence), evidence_count: z.number().int() });

const Subject = NameText(200).meta({
  description: 'Whom or what it is about: only an item with the same subject can supersede it',
});
const ItemText = NameText(MAX_ITEM_LENGTH);
const Confidence = z.number().min(0).max(1);

const Proposal = z.strictObject({
  subject: Subject,
  kind: z.enum(ITEM_KINDS).default('fact'),
  text: ItemText,
  evidence: z
    .array(z.strictObject({ chunk_id: Id, quote: NameText(MAX_QUOTE_LENGTH) }))
    .max(20)
    .default([])
    .meta({ description: 'Words that stand in a chunk. Only what a person writes in the console needs none.' }),
  confidence: Confidence.default(1),
  valid_from: Instant.optional().meta({ description: 'Default: now' }),
  expires_at: Instant.optional(),
  supersedes: Id.optional().meta({ description: 'An item of the same scope and subject that is true no longer' }),
  visibility: VisibilityField.default('private'),
  ...Attachment,
});
export const ProposeInput = z.strictObject({
  items: z.array(Proposal).min(1).max(MAX_ITEMS_PER_CALL),
  remember: z.boolean().default(false).meta({
    description:
      'The user asked to remember them: private items that their quoted words state are active at once instead of waiting for review, unless they are instructions',
  }),
});
export const ProposeOutput = z.strictObject({
  items: z.array(
    z.strictObject({
      id: Id,
      status: z.enum(ITEM_STATUSES),
      merged: z.boolean().meta({ description: 'The same was known already; its evidence was added' }),
    }),
  ),
});
export const ListItemsInput = z.strictObject({
  ...page,
  status: z.enum(ITEM_STATUSES).optional(),
  kind: z.enum(ITEM_KINDS).optional(),
  visibility: z.enum(visibilities).optional(),
  subject: PlainText(200).optional(),
  workflow_id: Id.optional(),
  agent_id: Id.optional(),
});
export const ListItemsOutput = z.strictObject({ items: z.array(Item), ...nextCursor });
export const ItemInput = z.strictObject({ id: Id });
export const PatchItemInput = z.strictObject({
  id: Id,
  subject: Subject.optional(),
  kind: z.enum(ITEM_KINDS).optional(),
  text: ItemText.optional(),
  status: z
    .enum(['rejected', 'proposed'])
    .optional()
    .meta({ description: 'Reject a proposal, or put it back into review' }),
  pinned: z.boolean().optional(),
  expires_at: Instant.nullable().optional(),
  reinstate: z
    .literal(true)
    .optional()
    .meta({ description: 'Undo a supersession: this item is true again, and the newer one is rejected' }),
});
export const ConfirmInput = z.strictObject({
  id: Id,
  supersedes: Id.optional().meta({
    description: 'An active item of the same scope and subject that is true no longer',
  }),
});

export const SearchInput = z.strictObject({
  query: PlainText(MAX_QUERY_LENGTH).regex(/\S/, 'must not be blank'),
  kinds: z.array(z.enum(SEARCH_KINDS)).min(1).max(SEARCH_KINDS.length).optional().meta({ description: 'Default: all' }),
  visibility: z.enum(visibilities).optional(),
  workflow_id: Id.optional().meta({ description: 'Memories of this workflow, and those of no particular one' }),
  agent_id: Id.optional().meta({ description: 'Memories of this agent, and those of no particular one' }),
  as_of: Instant.optional().meta({ description: 'What was true and known then' }),
  include_superseded: z.boolean().default(false),
  k: z.number().int().min(1).max(100).default(10),
  max_tokens: z
    .number()
    .int()
    .min(50)
    .max(50_000)
    .optional()
    .meta({ description: 'The texts together are at most so long' }),
  explain: z.boolean().default(false).meta({ description: 'Say where each hit ranks in each signal' }),
});
export const SIGNALS = ['text', 'trigram', 'subject', 'vector', 'recency'] as const;
export type Signal = (typeof SIGNALS)[number];
const Hit = z.strictObject({
  id: Id,
  type: z.enum(['item', 'chunk']),
  kind: z.enum(SEARCH_KINDS),
  subject: z.string().nullable(),
  text: z.string(),
  trust: z.enum(TRUSTS),
  visibility: z.enum(visibilities),
  status: z.enum(ITEM_STATUSES),
  episode_id: Id.nullable(),
  source: z.string().nullable().meta({ description: 'The thread, file or run of a chunk' }),
  occurred_at: Timestamp,
  score: z.number(),
  ranks: z.partialRecord(z.enum(SIGNALS), z.number().int()).optional(),
});
export const SearchOutput = z.strictObject({
  hits: z.array(Hit),
  signals: z.array(z.enum(SIGNALS)).meta({ description: 'The signals that were asked' }),
  degraded: z
    .array(z.enum(['trigram', 'vector']))
    .meta({ description: 'Signals that exist here and could not be asked' }),
  tokens: z.number().int().meta({ description: 'About how many tokens the texts of the hits have' }),
  truncated: z.boolean().meta({ description: 'max_tokens left hits out' }),
});

export const TOOLS = [
  'memory_search',
  'memory_get_episode',
  'memory_get_continuation',
  'memory_propose_items',
  'memory_confirm_item',
] as const;
export const ToolCallInput = z.strictObject({
  tool: z.enum(TOOLS),
  arguments: z.record(z.string(), JsonValueSchema).default({}),
});
export const ToolCallOutput = z.strictObject({ result: JsonValueSchema });

export const ExportInput = z.strictObject({ ...page, of: z.enum(['me', 'project']).default('me') });
export const ExportOutput = z.strictObject({
  items: z.array(ItemWithEvidence),
  episodes: z.array(Episode),
  ...nextCursor,
});
export const ForgetInput = z.strictObject({
  of: z.enum(['me', 'episode', 'thread', 'workflow', 'agent', 'project']).meta({
    description:
      '`me`: everything that is private to you in this project. `project`: everything of the project but what is private to others.',
  }),
  ref: PlainText(500)
    .optional()
    .meta({ description: 'The id of the episode, workflow or agent, or the name of the thread or file' }),
});
export const ForgetOutput = z.strictObject({ items: z.number().int(), episodes: z.number().int() });

export const Settings = z.strictObject({
  embedding_model: z.string().nullable().meta({ description: 'provider/model; null: search has no vectors' }),
  dimensions: z.number().int().nullable(),
  pending: z.number().int().meta({ description: 'Texts that wait for an embedding, counted up to 10,000' }),
  ready: z.boolean().meta({ description: 'False while texts are embedded for a new model' }),
});
/** The maximum number of parts of a job. Each part is a step. */
export const MAX_PARTS = 500;
const MAX_EPISODES_PER_JOB = 100;
export const ExtractInput = z.strictObject({
  episode_ids: z.array(Id).min(1).max(MAX_EPISODES_PER_JOB).meta({ description: 'Conversations that you may write' }),
  model: z.string().min(1).max(200).meta({ description: 'provider/model, such as openai/gpt-5' }),
});
export const ExtractJobInput = z.strictObject({ jobId: Id });
export const ExtractJob = z.strictObject({
  job_id: Id.meta({ description: 'Also the id of its run' }),
  workflow_id: Id.meta({ description: 'The workflow of the run; its kind is `extraction`' }),
  status: z.enum(['queued', 'running', 'completed', 'failed', 'stopped']),
  total: z.number().int().meta({ description: 'Parts: a long conversation has several' }),
  done: z.number().int(),
  failed: z.number().int(),
  proposed: z.number().int().meta({ description: 'New items' }),
  merged: z.number().int().meta({ description: 'Evidence that was added to items which say the same' }),
  superseded: z.number().int().meta({ description: 'Items that a new one has replaced, as the user asked' }),
  dropped: z
    .number()
    .int()
    .meta({ description: 'Found by the model, and thrown away: without a quote that stands there' }),
  credits_microcredits: z.number().int(),
  errors: z.array(z.strictObject({ code: z.string(), message: z.string() })).meta({
    description: 'Why parts have failed, 20 at most',
  }),
});

const Pair = z.strictObject({ first: Item, second: Item });
export const HealthOutput = z.strictObject({
  items: z.strictObject({
    proposed: z.number().int(),
    active: z.number().int(),
    rejected: z.number().int(),
    superseded: z.number().int(),
  }),
  episodes: z.number().int(),
  never_used: z.number().int().meta({
    description: 'Active items that are older than 30 days and that no search of a tool has found',
  }),
  duplicates: z.array(Pair).meta({
    description: 'Active items of one subject that say much the same, among the newest 300; 20 pairs at most',
  }),
  contradictions: z.array(Pair).meta({
    description: 'Proposals (`first`) that would supersede an active item (`second`); 20 pairs at most',
  }),
});
export const PatchSettingsInput = z.strictObject({
  embedding_model: z.string().min(1).max(200).nullable().meta({
    description: 'provider/model of a model key that is shared with the workspace; null forgets all embeddings',
  }),
});
