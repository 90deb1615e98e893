import { isObject } from '../../../platform/json.ts';
import type { JsonMap, JsonValue } from '../../core/index.ts';
import type { Attempt, CheckScope, StepProblem } from '../../ports/step-type.ts';
import type { OfferedTool } from './tools.ts';

/** The kinds of workflows that can be tools of an agent. */
export type RunToolKind = 'workflow' | 'agent';

/** The `instance_id` of a planned tool that is another agent. */
export const AGENTS: RunToolKind = 'agent';
/** The names that people see as the source of these tools. */
export const RUN_TOOLS: Record<RunToolKind, string> = { workflow: 'Workflows', agent: 'Agents' };

/** Workflows and agents as tools. `missing`: the ones that cannot be started. The `name` of a tool is the id of its workflow in lower case. */
export type RunToolOffer = {
  tools: (OfferedTool & { run: NonNullable<OfferedTool['run']> })[];
  missing: { id: string; why: string }[];
};

/** The port of agents to the workflows and agents of their project; the domain of runs implements it. */
export type RunTools = {
  /** Returns the problems of an entry of an agent's tools: workflows that cannot be started, and calls that lead back to the agent. */
  check(scope: CheckScope, of: { kind: RunToolKind; ids: readonly string[] }): Promise<StepProblem[]>;
  /** Returns the tools of these ids in their latest versions. Waits while the database is away, until `signal` aborts. */
  offer(
    run: Attempt['run'],
    of: { kind: RunToolKind; ids: readonly string[] },
    signal: AbortSignal,
  ): Promise<RunToolOffer>;
};

/** The arguments of a tool that is an agent. */
export const AGENT_INPUT: JsonMap = {
  type: 'object',
  properties: {
    prompt: {
      type: 'string',
      minLength: 1,
      description: 'What the agent is to do. It knows nothing of this conversation.',
    },
    input: { type: 'object', description: 'Further fields that its instructions read, if they read any.' },
  },
  required: ['prompt'],
  additionalProperties: false,
};

/** Returns the input of the run that a call starts. */
export function inputOfRun(kind: string, args: JsonMap): JsonMap {
  if (kind !== AGENTS) return args;
  const { prompt = '', input } = args;
  return { ...(isObject(input) && input), message: prompt };
}

/** Returns the part of an agent's result that another agent reads. */
export function answerOfAgent(output: JsonValue): JsonMap {
  if (!isObject(output)) return { text: '', complete: false, outside: UNKNOWN };
  const { text = '', object, complete = false, ended_by = null, outside } = output;
  const said: JsonMap = object === undefined ? { text } : { object };
  return { ...said, complete, ended_by, ...(typeof outside === 'string' && { outside }) };
}
const UNKNOWN = 'in an answer whose origin is unknown';

/** Returns whether the answer of an agent that is a tool may quote text from outside. */
export const isAnswerFromOutside = (result: JsonValue): boolean =>
  !isObject(result) || typeof result.outside === 'string';
