import { z } from 'zod';
import { AnyObject, Id, Instant, NameText, nextCursor, PlainText, page, Timestamp } from '../../operation/wire.ts';
import { AgentLimits, AgentMemory, AgentTool, agentFields } from '../../orchestrator/steps/agent/settings.ts';
import { Description, RecentRun, ValidationReport } from '../workflows/schemas.ts';

const MAX_STARTERS = 10;

export const AgentStatus = z.enum(['active', 'disabled', 'archived']);
const Name = NameText(200);
const Starters = z.array(NameText(200)).max(MAX_STARTERS).meta({ description: 'Messages that the console offers' });

const head = {
  id: Id.meta({ description: "Also the id of the agent's runs under /v1/workflows/{id}" }),
  name: z.string(),
  description: z.string(),
  tenant_id: z.string(),
  project_id: Id,
  status: AgentStatus,
  version: z.number().int().meta({ description: 'Of the settings; each change is a new one' }),
  model: z.string(),
  temperature: z.number().nullable(),
  max_tokens: z.number().int().nullable(),
  tools: z.array(AgentTool),
  limits: AgentLimits.required({ max_turns: true, max_tool_calls: true, timeout_s: true }),
  on_limit: z.enum(['answer', 'fail']),
  starters: z.array(z.string()),
  etag: z.string().meta({ description: 'Send it as If-Match to change exactly what was read' }),
  created_at: Timestamp,
  updated_at: Timestamp,
};
export const AgentSchema = z.strictObject({
  ...head,
  instructions: z.string(),
  response_schema: AnyObject.nullable(),
  memory: AgentMemory.nullable(),
});
const AgentRun = RecentRun.extend({ credits_microcredits: z.number().int() });
export const ListAgentsInput = z.strictObject({
  ...page,
  status: AgentStatus.optional().meta({ description: 'Default: all but archived' }),
  q: PlainText(200).optional().meta({ description: 'Part of the name or the description, or the id' }),
});
export const ListAgentsOutput = z.strictObject({
  agents: z.array(
    z.strictObject({ ...head, recent_runs: z.array(AgentRun).meta({ description: 'Newest first, at most 20' }) }),
  ),
  ...nextCursor,
});

export const AgentRef = z.strictObject({ id: Id });
export const CreateAgentInput = z.strictObject({
  name: Name,
  description: Description.optional(),
  ...agentFields,
  starters: Starters.optional(),
});
/** The fields that can be changed; null resets a field to its default. */
const changes = {
  model: agentFields.model.optional(),
  instructions: agentFields.instructions,
  temperature: agentFields.temperature.nullable(),
  max_tokens: agentFields.max_tokens.nullable(),
  response_schema: agentFields.response_schema.nullable(),
  memory: agentFields.memory.nullable(),
  tools: agentFields.tools,
  limits: AgentLimits.extend({
    budget_credits: AgentLimits.shape.budget_credits.nullable(),
    context_tokens: AgentLimits.shape.context_tokens.nullable(),
  })
    .optional()
    .meta({ description: 'Those that are given; null for `budget_credits` and `context_tokens`: none' }),
  on_limit: agentFields.on_limit,
};
export const PatchAgentInput = z.strictObject({
  id: Id,
  name: Name.optional(),
  description: Description.optional(),
  status: z.enum(['active', 'disabled']).optional().meta({ description: 'A disabled agent starts no runs' }),
  ...changes,
  starters: Starters.optional(),
});
export const ValidateAgentInput = z.strictObject({ id: Id, ...changes });
export { ValidationReport as AgentReport };
export const ArchiveAgentInput = z.strictObject({
  id: Id,
  force: z.boolean().optional().meta({ description: 'Also while steps of workflows name the agent' }),
});
export const RunAgentInput = z.strictObject({
  id: Id,
  input: AnyObject.meta({
    description: '`message` is what the agent is asked; templates of the instructions read every field',
    examples: [{ message: 'What is open?' }],
  }),
  session_id: PlainText(200).optional().meta({ description: 'Groups runs; default: the id of the run' }),
});

export const ListAgentVersionsInput = z.strictObject({ id: Id, ...page });
export const ListAgentVersionsOutput = z.strictObject({
  versions: z.array(
    z.strictObject({
      version: z.number().int(),
      published_at: Timestamp,
      published_by: z.string(),
      changelog: z.string().meta({ description: 'Names the fields that changed' }),
      settings: z.strictObject({
        ...agentFields,
        limits: head.limits,
        on_limit: head.on_limit,
        tools: head.tools,
        instructions: z.string(),
      }),
    }),
  ),
  ...nextCursor,
});

/** The calls that a grant allows. `agent`: all of the agent, for every caller. `thread`: those in this conversation. */
export const GrantFor = z.enum(['agent', 'thread']);
/**
 * A grant that a person gives with the answer to an agent's question: it allows calls of the same tool of the same
 * instance, as the tool is described now.
 */
export const GrantInput = z.strictObject({
  for: GrantFor.meta({ description: '`agent`: all calls of the agent. `thread`: those in this conversation' }),
  arguments: AnyObject.optional().meta({
    description: 'Only calls that have these arguments among theirs. Default: calls with any',
  }),
  expires_at: Instant.optional().meta({ description: 'Default: never' }),
});
export const GrantSchema = z.strictObject({
  id: Id,
  agent_id: Id.nullable(),
  thread_id: Id.nullable(),
  instance_id: Id,
  instance: z.string().nullable().meta({ description: 'Its name; null once it is gone' }),
  tool: z.string(),
  arguments: AnyObject.nullable().meta({ description: 'Calls must have these among theirs; null: any' }),
  granted_by: z.string(),
  in_force: z.boolean().meta({
    description:
      'False: it has expired, or the person who granted it may no longer write in the project. Such a grant counts for nothing',
  }),
  created_at: Timestamp,
  expires_at: Timestamp.nullable(),
});
export const ListGrantsInput = z.strictObject({ id: Id, ...page });
export const ListGrantsOutput = z.strictObject({ grants: z.array(GrantSchema), ...nextCursor });
export const RevokeGrantInput = z.strictObject({ id: Id, grant_id: Id });

const WorkspaceApproval = z.enum(['auto', 'ask', 'deny']);
const approvalOf = (tools: string) =>
  WorkspaceApproval.nullable().meta({ description: `Of tools ${tools}; null: nothing is decided` });
export const AgentSettingsSchema = z.strictObject({
  read_approval: approvalOf('that only read'),
  write_approval: approvalOf('that change something'),
  risky_approval: approvalOf('that may destroy something, or that reach an open world'),
});
export const AgentSettingsInput = z.strictObject({});
export const PatchAgentSettingsInput = AgentSettingsSchema.partial();
