import { z } from 'zod';
import { JsonObjectSchema } from '../../../platform/zod-json.ts';
import type { JsonMap } from '../../core/index.ts';
import { MEMORY_SCOPES, MEMORY_WRITES } from './memory-recaller.ts';
import { READ_RESULT } from './read-result.ts';
import { TurnMessages } from './turn-messages.ts';

/**
 * `ask`: each call needs an approval. `ask_when_tainted`: calls need one after text from outside. `ask_when_private`: calls need one after
 * both text from outside and private data, which the call could send out.
 */
const Policy = z.enum(['auto', 'ask_when_tainted', 'ask_when_private', 'ask']);
export type ToolPolicy = z.infer<typeof Policy>;

/** A tool of an agent. `name`: the name that the model uses. The event log stores this, so a field is never renamed. */
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
  /** Whether the server says that the tool is destructive. */
  destructive: z.literal(true).optional(),
  /** Whether the server receives credentials of the workspace, so that its results may be private. */
  credentials: z.literal(true).optional(),
  /** Whether a person decides about a lost call. Absent: the call is repeated. */
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

/** A place of private data, as words that continue "private data". `instance_id`: the instance that returned the data and may receive it again. */
export const PrivatePlace = z.strictObject({ place: z.string(), instance_id: z.string().optional() });

/** The settings, messages and tools that the steps of an agent work with, as `step_expanded` stores them. */
export const AgentWork = z.strictObject({
  /** The agent that the step names. Absent in the agent's own runs, and for an inline agent. */
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
  /** The places of text from outside in the initial messages, as words that continue "text from outside". */
  outside: z.array(z.string()).optional(),
  /** The places of private data in the initial messages. Absent in older logs. */
  private: z.array(PrivatePlace).optional(),
});
export type AgentWork = z.infer<typeof AgentWork>;

const works = new WeakMap<JsonMap, AgentWork>();

/** Returns the parsed settings of an agent, cached per object. Throws ZodError if the log has an unknown form. */
export function workOf(settings: JsonMap): AgentWork {
  let work = works.get(settings);
  if (work === undefined) {
    work = AgentWork.parse(settings);
    works.set(settings, work);
  }
  return work;
}

/** The names of tools that the service gives to agents. */
const RESERVED: ReadonlySet<string> = new Set([READ_RESULT, 'ask_user']);

/** Returns a name that providers accept and that no other tool has. */
export function uniqueName(tool: string, taken: ReadonlySet<string>): string {
  const name = tool.replaceAll(/[^A-Za-z0-9_-]/g, '_').slice(0, 56) || 'tool';
  const isTaken = (candidate: string) => RESERVED.has(candidate) || taken.has(candidate);
  for (let number = 1; ; number++) {
    const candidate = number === 1 ? name : `${name}_${number}`;
    if (!isTaken(candidate)) return candidate;
  }
}
