import { z } from 'zod';
import { JsonObjectSchema } from '../../../platform/zod-json.ts';
import { MAX_TIMEOUT_S } from '../../core/compile.ts';
import { MAX_INSTRUCTIONS_LENGTH } from '../common-fields.ts';
import { MAX_FORM_LENGTH } from '../form.ts';
import { ON_LOST } from '../on-lost.ts';
import { MEMORY_SCOPES, MEMORY_WRITES } from './memory-recaller.ts';

const MAX_AGENT_TURNS = 200;
const MAX_AGENT_CALLS = 1_000;
const MAX_AGENT_TOOLS = 100;
/** The default limits of an agent. */
export const DEFAULT_AGENT_LIMITS = { max_turns: 25, max_tool_calls: 100, timeout_s: 3_600 };
const MIN_CLOSING_S = 10;
const MAX_CLOSING_S = 120;

/**
 * Returns the seconds that are reserved for the closing turn, so that it also ends within `timeout_s`: a tenth, bounded by the time that a
 * model needs to answer, and at most half.
 */
export function closingSeconds(timeoutS: number): number {
  return Math.min(timeoutS / 2, Math.max(MIN_CLOSING_S, Math.min(MAX_CLOSING_S, timeoutS / 10)));
}

/** The smallest budget: one microcredit. */
export const MIN_BUDGET_CREDITS = 0.000_001;
export const MAX_BUDGET_CREDITS = 1_000_000;
/** The smallest context that holds the request and a summary. */
const MIN_CONTEXT_TOKENS = 1_000;
const MAX_CONTEXT_TOKENS = 10_000_000;

/** The approvals of a tool: the agent calls it without asking, after asking a person, or never. */
export const APPROVALS = ['auto', 'ask', 'deny'] as const;

/** Tools of an instance of an MCP server. */
const McpTools = z.strictObject({
  type: z.literal('mcp'),
  instance_id: z.string().min(1).max(200).meta({ description: 'An MCP instance of the project' }),
  tools: z
    .array(z.string().min(1).max(200))
    .min(1)
    .max(MAX_AGENT_TOOLS)
    .meta({ description: 'Names of tools, or `*` for all that the published version has' }),
  approval: z.enum(APPROVALS).optional().meta({
    description: 'Default: tools that only read run at once, all others ask. A tool that may destroy always asks',
  }),
  on_lost: z.enum(ON_LOST).optional().meta({
    description:
      'If Baton stops during a call and it is unknown whether the call happened. retry: it is made again. ask: a person decides. Default: ask for tools that say they may destroy and do not say they are idempotent. A tool that only reads is always called again',
  }),
});

const RUN_APPROVAL = 'Default: a workflow that only reads is started at once, all others ask';

/** Workflows of the project: a call starts a run and waits for its end. */
const WorkflowTools = z.strictObject({
  type: z.literal('workflow'),
  workflow_ids: z
    .array(z.string().min(1).max(200))
    .min(1)
    .max(MAX_AGENT_TOOLS)
    .meta({ description: 'Published workflows of the project; each is a tool that starts a run and waits for it' }),
  approval: z.enum(APPROVALS).optional().meta({ description: RUN_APPROVAL }),
});

/** Another agent of the project: a call starts a run of it and waits for its answer. */
const AgentAsTool = z.strictObject({
  type: z.literal('agent'),
  agent_id: z.string().min(1).max(200).meta({ description: 'Another agent of the project, which answers a prompt' }),
  approval: z.enum(APPROVALS).optional().meta({ description: 'Default: each call asks' }),
});

/** Operations of this service. */
const PlatformOperations = z.strictObject({
  type: z.literal('platform'),
  operations: z
    .array(z.string().min(1).max(200))
    .min(1)
    .max(MAX_AGENT_TOOLS)
    .meta({ description: 'Names of operations; each has the rights of the person who asks' }),
  approval: z.enum(APPROVALS).optional().meta({
    description: 'Default: operations that only read run at once, all others ask. One that may destroy always asks',
  }),
});

/** Questions to people, which wait in the inbox. */
const AskUser = z.strictObject({ type: z.literal('ask_user') });

/** The memory tools: looking up memories and, as far as `memory.write` allows, remembering and forgetting. */
const MemoryTools = z.strictObject({ type: z.literal('memory') });

export const AgentTool = z.discriminatedUnion('type', [
  McpTools,
  WorkflowTools,
  AgentAsTool,
  PlatformOperations,
  AskUser,
  MemoryTools,
]);

export const AgentLimits = z.strictObject({
  max_turns: z.number().int().min(1).max(MAX_AGENT_TURNS).optional().meta({ description: 'Default 25' }),
  max_tool_calls: z.number().int().min(0).max(MAX_AGENT_CALLS).optional().meta({ description: 'Default 100' }),
  budget_credits: z
    .number()
    .min(MIN_BUDGET_CREDITS)
    .max(MAX_BUDGET_CREDITS)
    .optional()
    .meta({ description: 'Credits that turns and calls may cost; a tenth is kept for the closing answer' }),
  timeout_s: z.number().int().min(1).max(MAX_TIMEOUT_S).optional().meta({ description: 'Default 3600' }),
  context_tokens: z.number().int().min(MIN_CONTEXT_TOKENS).max(MAX_CONTEXT_TOKENS).optional().meta({
    description: 'Tokens that a conversation may have; default: what the model reads. From 70 % on it is summarised',
  }),
});

/** The memories that an agent gets. */
export const AgentMemory = z.strictObject({
  read: z.array(z.enum(MEMORY_SCOPES)).min(1).max(MEMORY_SCOPES.length).meta({
    description: '`private`: of the person who asked. `project`, `workspace`: what everybody there sees',
  }),
  write: z.enum(MEMORY_WRITES).optional().meta({
    description:
      'What its tools of memory may do. `off`: only search. `propose` (default): propose what a person then reviews. `auto`: also remember at once what the person has said',
  }),
});

/** The length is checked before everything else: 1 MiB of keys blocked the event loop for half a second. */
const ResponseSchema = JsonObjectSchema.refine(
  value => JSON.stringify(value).length <= MAX_FORM_LENGTH,
  `must have at most ${MAX_FORM_LENGTH} characters`,
).meta({ type: 'object' });

/** The fields that describe an agent, in a step and on its own. Instructions may contain templates. */
export const agentFields = {
  model: z.string().min(1).max(200).meta({ description: 'provider/model, such as openai/gpt-5' }),
  instructions: z
    .string()
    .max(MAX_INSTRUCTIONS_LENGTH)
    .optional()
    .meta({ description: 'What the agent is for and how it works; may contain templates' }),
  temperature: z.number().min(0).max(2).optional(),
  max_tokens: z.number().int().min(1).max(1_000_000).optional().meta({ description: 'Of each answer of the model' }),
  response_schema: ResponseSchema.optional().meta({
    description: 'JSON Schema (2020-12) of an object: the final answer is checked against it and becomes `object`',
  }),
  tools: z.array(AgentTool).max(MAX_AGENT_TOOLS).optional(),
  memory: AgentMemory.optional().meta({
    description: 'Memories that it is given with the prompt: pinned ones, and those about what it is asked',
  }),
  limits: AgentLimits.optional(),
  on_limit: z
    .enum(['answer', 'fail'])
    .optional()
    .meta({ description: 'At a limit: a closing answer without tools (default), or a failure' }),
} as const;
