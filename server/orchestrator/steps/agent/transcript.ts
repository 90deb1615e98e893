import { isObject } from '../../../platform/json.ts';
import { changeText } from '../../core/changed-arguments.ts';
import type { AgentProgress, AgentTurn, JsonValue, StepError } from '../../core/index.ts';
import { approvalId } from '../../core/index.ts';
import { ASK_USER } from './ask-user.ts';
import { type Conversation, conversationOf, messagesOf, summaryOf } from './conversation.ts';
import { isFromOutside, MEMORY } from './memory-tools.ts';
import type { AgentWork } from './plan.ts';
import { READ_RESULT, shown } from './read-result.ts';
import { AGENTS, isAnswerFromOutside } from './run-tools.ts';
import type { ToolCallPart, ToolResultPart, TurnMessage } from './turn-messages.ts';
import { callsOf, digestOf, type TurnResult, turnResultOf } from './turn-result.ts';

/** The number of equal calls from which the model is warned. */
const MIN_REPEATED_CALLS = 3;

/** The error that the model reads, so that it does not repeat the call. */
const NOT_REPEATED =
  'not_repeated: the service ended during the call, so that it may have been carried out; a person decided not to repeat it';

/** The source of a transcript: the steps under an agent, and how to read their results and errors. */
export type TranscriptSource = {
  result(step: string): JsonValue;
  errorOf?(step: string): StepError | undefined;
};

/** Returns the messages of an agent before its next turn. The same steps always give the same messages. */
export function transcript(work: AgentWork, agent: AgentProgress, source: TranscriptSource): TurnMessage[] {
  return messagesOf(conversation(work, agent, source));
}

/** Returns the conversation of an agent in units, with its last summary. */
export function conversation(work: AgentWork, agent: AgentProgress, source: TranscriptSource): Conversation {
  const repeats = new Map<string, number>();
  const turns = agent.turns.map(turn => messagesOfTurn(turn, source, repeats));
  return { ...conversationOf(work), turns, summary: summaryOf(agent, source) };
}

/** Returns the messages of a turn; none for a failed turn. */
function messagesOfTurn(turn: AgentTurn, source: TranscriptSource, repeats: Map<string, number>): TurnMessage[] {
  const result = turnResultOf(source.result(turn.id));
  if (result === null) return [];
  const answer: TurnMessage = { role: 'assistant', content: result.content };
  const calls = callsOf(result);
  if (calls.length === 0) return [answer];
  const content = calls.map((call, index) => resultOf({ turn, result, call, number: index + 1, repeats, source }));
  return [answer, { role: 'tool', content }];
}

type Called = {
  turn: AgentTurn;
  result: TurnResult;
  call: ToolCallPart;
  number: number;
  repeats: Map<string, number>;
  source: TranscriptSource;
};

function resultOf(called: Called): ToolResultPart {
  const { call, repeats } = called;
  const output = outputOf(called);
  const text = 'value' in output ? `${output.value}` : '';
  const key = `${call.name} ${digestOf(call.arguments)} ${output.type} ${text}`;
  const times = (repeats.get(key) ?? 0) + 1;
  repeats.set(key, times);
  const part = { type: 'tool_result' as const, id: call.id, name: call.name };
  if (output.type === 'denied' || output.type === 'json') return { ...part, output };
  const changed = changedBy(called);
  const warning = `\n[This is the same call with the same result for the ${times}th time. Do something else, or answer.]`;
  const value = `${changed === null ? '' : `[${changed}]\n`}${output.value}${times < MIN_REPEATED_CALLS ? '' : warning}`;
  return { ...part, output: { ...output, value } };
}

/** Returns a note that a person changed the arguments of a call; null for none. Without the note the model would take them for its own. */
function changedBy({ turn, number, call, source }: Called): string | null {
  const made = turn.calls.get(number);
  // The fields of an answer to a question may have any names.
  if (made?.approval === undefined || made.status === 'skipped' || call.name === ASK_USER) return null;
  return changeText(call.arguments, source.result(made.approval));
}

function outputOf({ turn, result, number, source }: Called): ToolResultPart['output'] {
  const call = turn.calls.get(number);
  const problem = result.problems?.[String(number)];
  if (call === undefined) {
    const why =
      problem === undefined ? 'not carried out: the agent has reached a limit' : `${problem.code}: ${problem.message}`;
    return { type: 'error', value: why };
  }
  if (call.status === 'completed') return { type: 'text', value: shown(source.result(call.id), call.id) };
  if (call.skipReason === 'not_repeated') return { type: 'error', value: NOT_REPEATED };
  if (call.status === 'skipped') return rejection(source.result(approvalId(call.id)));
  return { type: 'error', value: errorText(call.error ?? { code: 'cancelled', message: 'the call was cancelled' }) };
}

/** Returns an error as text. Details are left out if the message already is JSON, as with many tools. */
function errorText({ code, message, details }: StepError): string {
  const text = `${code}: ${message}`;
  if (details === undefined || /^\s*[[{]/.test(message)) return text;
  return `${text}\n${JSON.stringify(details).slice(0, MAX_DETAILS).toWellFormed()}`;
}
const MAX_DETAILS = 2_000;

function rejection(answer: JsonValue): ToolResultPart['output'] {
  const { completed_by, reason } = isObject(answer) ? answer : {};
  const by =
    typeof completed_by === 'string' ? `${completed_by} did not approve the call` : 'the call was not approved';
  return { type: 'denied', reason: typeof reason === 'string' && reason !== '' ? `${by}: ${reason}` : by };
}

/** Returns the first tool that brought text from outside into the conversation; null for none. */
export function taintedBy(work: AgentWork, { turns }: AgentProgress, source: TranscriptSource): string | null {
  const open = new Set(work.tools.flatMap(({ name, open_world }) => (open_world ? [name] : [])));
  const agents = new Set(work.tools.flatMap(({ name, instance_id }) => (instance_id === AGENTS ? [name] : [])));
  const known = new Set([READ_RESULT, ...work.tools.map(({ name }) => name)]);
  const ofMemory = new Set(work.tools.flatMap(({ name, instance_id }) => (instance_id === MEMORY ? [name] : [])));
  for (const turn of turns) {
    const result = turnResultOf(source.result(turn.id));
    for (const [index, { name }] of (result === null ? [] : callsOf(result)).entries()) {
      const call = turn.calls.get(index + 1);
      // A run that continues another one may have results of tools that the agent no longer has.
      if (call === undefined || (known.has(name) && !open.has(name) && !agents.has(name))) continue;
      // The error of a server is text from outside like its results.
      if (call.status === 'failed' && !ofMemory.has(name)) return name;
      if (call.status !== 'completed') continue;
      if (agents.has(name)) {
        if (isAnswerFromOutside(source.result(call.id))) return name;
      } else if (!ofMemory.has(name) || isFromOutside(source.result(call.id))) return name;
    }
  }
  return null;
}
