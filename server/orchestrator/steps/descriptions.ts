import type { StepTypeDescription } from '../ports/step-type.ts';

/**
 * The facts about each step type that the rest of the product needs, beside its execution. Pure data: the console reads
 * it in the browser. Lists of types have this order.
 */
export const STEP_TYPES = {
  lua_script: { label: 'Lua script', icon: 'file-code', family: 'code', billable: [], origin: 'anything' },
  condition: { label: 'Condition', icon: 'git-fork', family: 'logic', billable: [], origin: 'anything' },
  human_task: {
    label: 'Human task',
    icon: 'user-check',
    family: 'people',
    billable: [],
    origin: 'inside',
    waitsForPeople: true,
  },
  wait: { label: 'Wait', icon: 'clock', family: 'logic', billable: [], origin: 'inside' },
  for_each: { label: 'For each', icon: 'repeat', family: 'logic', billable: [], origin: 'anything' },
  call_workflow: { label: 'Call workflow', icon: 'workflow', family: 'workflows', billable: [] },
  mcp_call: {
    label: 'MCP tool call',
    icon: 'blocks',
    family: 'requests',
    billable: ['tool_call'],
    subject: 'tool_name',
    startScope: 'mcp:execute',
    asksInDoubt: true,
  },
  http_request: {
    label: 'HTTP request',
    icon: 'globe',
    family: 'requests',
    billable: [],
    startScope: 'mcp:execute',
    asksInDoubt: true,
  },
  llm_call: {
    label: 'LLM call',
    icon: 'bot',
    family: 'ai',
    billable: ['llm_input_tokens', 'llm_output_tokens'],
    subject: 'model',
    origin: 'templates',
    startScope: 'ai:use',
  },
  agent: {
    label: 'Agent',
    icon: 'sparkles',
    family: 'ai',
    billable: [],
    startScope: ['ai:use', 'mcp:execute'],
  },
} as const satisfies Record<string, StepTypeDescription>;

/**
 * The types of the steps that agents add to their runs, of those that stand in for others in trials, and of those in the
 * service's own workflows; no draft can have them.
 */
export const ADDED_STEP_TYPES = {
  agent_turn: {
    label: 'Agent turn',
    icon: 'bot',
    family: 'ai',
    billable: ['llm_input_tokens', 'llm_output_tokens'],
    subject: 'model',
  },
  agent_compaction: {
    label: 'Summary of a conversation',
    icon: 'bot',
    family: 'ai',
    billable: ['llm_input_tokens', 'llm_output_tokens'],
    subject: 'model',
  },
  agent_tool: {
    label: 'Tool call of an agent',
    icon: 'blocks',
    family: 'requests',
    billable: ['tool_call'],
    subject: 'tool',
    asksInDoubt: true,
  },
  stand_in: { label: 'Stand-in', icon: 'repeat', family: 'workflows', billable: [] },
  agent_approval: { label: 'Approval', icon: 'user-check', family: 'people', billable: [], waitsForPeople: true },
  memory_extract: {
    label: 'Extraction of memories',
    icon: 'bot',
    family: 'ai',
    billable: ['llm_input_tokens', 'llm_output_tokens'],
    subject: 'model',
  },
} as const satisfies Record<string, StepTypeDescription>;

const byName: ReadonlyMap<string, StepTypeDescription> = new Map(
  Object.entries({ ...STEP_TYPES, ...ADDED_STEP_TYPES }),
);

/** Returns the description of a step type; undefined for a name that no type of this version has. */
export const stepTypeDescription = (type: string): StepTypeDescription | undefined => byName.get(type);
