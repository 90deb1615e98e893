import type { z } from 'zod';
import type { Graph, GraphStep, JsonMap } from '../../orchestrator/core/index.ts';
import {
  type AgentLimits,
  type AgentMemory,
  type AgentTool,
  DEFAULT_AGENT_LIMITS,
} from '../../orchestrator/steps/agent/settings.ts';
import type { CreateAgentInput, ValidateAgentInput } from './schemas.ts';

/** The id of the only step in the workflow of an agent. */
export const AGENT_STEP = 'agent';

type Limits = z.output<typeof AgentLimits>;

/** The settings of an agent with all defaults. They are the fields of its step. */
export type AgentSettings = {
  model: string;
  instructions: string;
  temperature?: number;
  max_tokens?: number;
  response_schema?: JsonMap;
  memory?: z.output<typeof AgentMemory>;
  tools: z.output<typeof AgentTool>[];
  limits: Limits & Required<Pick<Limits, 'max_turns' | 'max_tool_calls' | 'timeout_s'>>;
  on_limit: 'answer' | 'fail';
};

/** Built-in agents read every memory that the person in the conversation may see. */
export const ALL_MEMORIES: NonNullable<AgentSettings['memory']> = { read: ['private', 'project', 'workspace'] };

type Given = Pick<
  z.output<typeof CreateAgentInput>,
  | 'model'
  | 'instructions'
  | 'temperature'
  | 'max_tokens'
  | 'response_schema'
  | 'memory'
  | 'tools'
  | 'limits'
  | 'on_limit'
>;

/** Returns the settings of a new agent. */
export function newSettings(given: Given): AgentSettings {
  return changeSettings(
    { model: '', instructions: '', tools: [], limits: DEFAULT_AGENT_LIMITS, on_limit: 'answer' },
    given,
  );
}

/** Returns the settings with the given changes. Null resets a field to its default. */
export function changeSettings(
  settings: AgentSettings,
  { model, instructions, temperature, max_tokens, response_schema, memory, tools, limits, on_limit }: Changes,
): AgentSettings {
  const { budget_credits: _, context_tokens: _context, ...before } = settings.limits;
  const {
    budget_credits = settings.limits.budget_credits,
    context_tokens = settings.limits.context_tokens,
    ...others
  } = limits ?? {};
  const optional = {
    temperature: temperature === undefined ? settings.temperature : temperature,
    max_tokens: max_tokens === undefined ? settings.max_tokens : max_tokens,
    response_schema: response_schema === undefined ? settings.response_schema : response_schema,
    memory: memory === undefined ? settings.memory : memory,
  };
  return {
    model: model ?? settings.model,
    instructions: instructions ?? settings.instructions,
    ...withoutEmpty(optional),
    tools: tools ?? settings.tools,
    limits: { ...before, ...withoutEmpty(others), ...withoutEmpty({ budget_credits, context_tokens }) },
    on_limit: on_limit ?? settings.on_limit,
  };
}
type Changes = Omit<z.output<typeof ValidateAgentInput>, 'id'>;

type Present<T> = { [K in keyof T]?: NonNullable<T[K]> };
const withoutEmpty = <T extends object>(fields: T): Present<T> =>
  Object.fromEntries(Object.entries(fields).filter(([, value]) => value != null)) as Present<T>;

/** Returns the graph of an agent's workflow: one step with the settings. Its prompt is the `message` of the input. */
export function graphOf(settings: AgentSettings): Graph {
  return {
    steps: [{ id: AGENT_STEP, type: 'agent', prompt: '{{input.message}}', ...settings }],
    input_schema: {
      type: 'object',
      properties: { message: { type: 'string', minLength: 1, title: 'Message' } },
      required: ['message'],
    },
    output: `{{steps.${AGENT_STEP}.result}}`,
  };
}

/** Returns the settings from a graph that `graphOf` returned. */
export function settingsOf({ steps: [step] }: Graph): AgentSettings {
  if (step === undefined) throw new Error('The workflow of an agent has no step.');
  return settingsOfStep(step);
}

function settingsOfStep({ id: _id, type: _type, prompt: _prompt, ...settings }: GraphStep): AgentSettings {
  // The settings were validated before they were stored.
  return settings as AgentSettings;
}

/** Returns the names of the settings that differ. */
export function changedSettings(before: AgentSettings, after: AgentSettings): string[] {
  const names = [...new Set([...Object.keys(before), ...Object.keys(after)])] as (keyof AgentSettings)[];
  return names.filter(name => JSON.stringify(before[name]) !== JSON.stringify(after[name]));
}
