import { z } from 'zod';
import { JsonObjectSchema } from '../../../platform/zod-json.ts';
import type { JsonMap } from '../../core/index.ts';
import { MEMORY_SCOPES, MEMORY_WRITES } from './memory-recaller.ts';
import { READ_RESULT } from './read-result.ts';
import { TurnMessages } from './turn-messages.ts';

/**
 * `ask`: a person approves each call. `ask_when_tainted`: once text from outside is in the conversation. `ask_when_private`: once that and
 * private data are, which the call could send out.
 */
const Policy = z.enum(['auto', 'ask_when_tainted', 'ask_when_private', 'ask']);
export type ToolPolicy = z.infer<typeof Policy>;

/** A tool of an agent, under the name by which its model calls it. Kept in the event log: a field is never renamed. */
const PlannedTool = z.strictObject({
  name: z.string(),
  instance_id: z.string(),
  instance: z.string(),
  tool: z.string(),
  description: z.string(),
  input_schema: JsonObjectSchema,
  policy: Policy,
  read_only: z.boolean(),
  open_world: z.boolean(),
  /** Absent where the server does not say that it may destroy something. */
  destructive: z.literal(true).optional(),
  /** Its server gets credentials of the workspace, so that its results are not what anybody can read. */
  credentials: z.literal(true).optional(),
  /** A person decides about a call that may have happened; absent: the call is made again. */
  on_lost: z.literal('ask').optional(),
  /** The version of a workflow, or of an agent, whose run the tool is; absent for every other tool. */
  run: z.strictObject({ workflow_id: z.string(), version: z.number() }).optional(),
});
export type PlannedTool = z.infer<typeof PlannedTool>;

/** The memories that an agent's memory tools reach. `agent_id`: the agent that the step names. */
const MemoryAccess = z.strictObject({
  read: z.array(z.enum(MEMORY_SCOPES)),
  write: z.enum(MEMORY_WRITES),
  agent_id: z.string().optional(),
});

/** Where private data was read, in the words after "private data". `instance_id`: the instance that has returned it and may have it back. */
export const PrivatePlace = z.strictObject({ place: z.string(), instance_id: z.string().optional() });

/** The settings, messages and tools that the steps of an agent work with, as `step_expanded` stores them. */
export const AgentWork = z.strictObject({
  /** The agent that the step names; absent in its own runs, and for one that a step describes. */
  agent_id: z.string().optional(),
  model: z.string(),
  messages: TurnMessages,
  tools: z.array(PlannedTool),
  /** Present for an agent with memory tools. */
  memory: MemoryAccess.optional(),
  temperature: z.number().optional(),
  max_tokens: z.number().optional(),
  /** The context window of the model, in tokens. Absent in logs from before conversations were compacted. */
  context_window: z.number().optional(),
  response_schema: JsonObjectSchema.optional(),
  /** Where its first messages have text from outside of the workspace, each in the words after "text from outside"; absent: nowhere. */
  outside: z.array(z.string()).optional(),
  /** Where its first messages have private data; absent: nowhere, or in logs from before that was known. */
  private: z.array(PrivatePlace).optional(),
});
export type AgentWork = z.infer<typeof AgentWork>;

const works = new WeakMap<JsonMap, AgentWork>();

/** Returns what the steps of an agent work with, parsed once. Throws ZodError if the log holds something else. */
export function workOf(settings: JsonMap): AgentWork {
  let work = works.get(settings);
  if (work === undefined) {
    work = AgentWork.parse(settings);
    works.set(settings, work);
  }
  return work;
}

/** Names of tools that the service itself gives to agents. */
const RESERVED: ReadonlySet<string> = new Set([READ_RESULT, 'ask_user']);

/** Providers take these names; those of tools may have other characters, and two instances may offer the same one. */
export function uniqueName(tool: string, taken: ReadonlySet<string>): string {
  const name = tool.replaceAll(/[^A-Za-z0-9_-]/g, '_').slice(0, 56) || 'tool';
  const isTaken = (candidate: string) => RESERVED.has(candidate) || taken.has(candidate);
  for (let number = 1; ; number++) {
    const candidate = number === 1 ? name : `${name}_${number}`;
    if (!isTaken(candidate)) return candidate;
  }
}
