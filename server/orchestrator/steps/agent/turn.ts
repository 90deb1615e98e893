import { isObject } from '../../../platform/json.ts';
import type { AgentLimit, AgentProgress, Consumption, JsonMap, TurnCall, TurnEnd } from '../../core/index.ts';
import type { LiveText } from '../../ports/live-text.ts';
import type { Attempt, Outcome, StepType } from '../../ports/step-type.ts';
import { ADDED_STEP_TYPES } from '../descriptions.ts';
import { failed } from '../failure.ts';
import { PERSON, questionOf } from './ask-user.ts';
import { reserveTurn } from './budget.ts';
import {
  charactersOf,
  charactersOfTools,
  DEFAULT_CONTEXT_WINDOW,
  ratioOf,
  tokensPerCharacter,
} from './conversation.ts';
import { earlierTurn } from './earlier.ts';
import { type AgentGrant, type AgentGrants, grantFor } from './grants.ts';
import { MEMORY } from './memory-tools.ts';
import { outsideIn, outsideToRecord } from './outside-conversation.ts';
import { type AgentWork, type PlannedTool, workOf } from './plan.ts';
import { PLATFORM } from './platform-tools.ts';
import { firstUnknownTo, type PrivatePlace, privateIn } from './private-conversation.ts';
import { closePrompt, closingOf, openPrompt, type Prompt } from './prompt.ts';
import { READ_RESULT, readResultArguments } from './read-result.ts';
import { decideCall, type RunAuthority } from './run-authority.ts';
import { AGENT_STEP } from './step.ts';
import type { AgentTools } from './tools.ts';
import type { TurnAnswer, TurnCaller, TurnRequest } from './turn-caller.ts';
import type { ToolCallPart, TurnMessage } from './turn-messages.ts';
import { callsOf, digestOf, storedTurn, type TurnResult, textOfContent, turnResultOf } from './turn-result.ts';

/** The maximum number of calls of one turn; the model gets an error for further ones. Each call is a step, and the event that adds them is small. */
const MAX_CALLS_IN_TURN = 32;
const MAX_TOOL_NAME = 200;
/** The error code of an operation that refuses calls until a person has answered. */
const NEEDS_INPUT = 'needs_input';
/** The number of consecutive turns with only invalid calls, such as arguments that are no JSON, after which an agent ends. */
const MAX_REFUSED_TURNS = 6;

/** The ports that the steps under an agent need. */
export type TurnServices = {
  turns?: TurnCaller | undefined;
  agentTools?: AgentTools | undefined;
  authority?: RunAuthority | undefined;
  grants?: AgentGrants | undefined;
  liveText?: LiveText | undefined;
};

/** `agent_turn`: a turn of an agent's model. Only agents add it. */
export function agentTurn(services: TurnServices): StepType {
  return {
    type: 'agent_turn',
    ...ADDED_STEP_TYPES.agent_turn,
    ...AGENT_STEP,
    defaultTimeoutS: 300,
    retries: true,
    reserves: true,
    io: true,
    reads: () => 'all',
    execute: (attempt, signal) => execute(attempt, signal, services),
  };
}

async function execute(attempt: Attempt, signal: AbortSignal, services: TurnServices): Promise<Outcome> {
  const { agent, step, run } = attempt;
  if (services.turns === undefined || agent == null)
    return failed('step_type_unavailable', 'This server has no models configured.');
  const earlier = earlierTurn(attempt);
  if (earlier !== null) return earlier;
  const work = workOf(agent.settings);
  const begun = closingOf(step);
  // The conversation is read before the first await, because large results are released then.
  const open = openPrompt(work, agent, attempt);
  const outside = outsideIn(work, agent, attempt);
  const recorded = outside === null ? null : outsideToRecord(work, agent, attempt);
  const hidden = privateIn(work, agent, attempt);
  const ratio = tokensPerCharacter(agent, attempt);
  const opened = charactersOf(open.messages) + charactersOfTools(work);
  const input = Math.ceil(opened * ratio);
  const asksNow = mustAsk(work, agent, attempt);
  const most = mostOutput({ work, input, known: services.turns.mostOutput?.(work.model) });
  const window = work.context_window ?? DEFAULT_CONTEXT_WINDOW;
  const fitted = await reserveTurn(attempt, { agent, input, closing: begun, window, most });
  if (fitted.kind === 'not_made') return notMade(work, open.messages);
  if (fitted.kind === 'refused') return { kind: 'failed', error: fitted.error, retryable: false };
  const closing = fitted.closing ?? (asksNow ? 'repeated_calls' : null);
  const prompt = closing === null ? open : closePrompt(open, closing);
  // Only the added messages are counted, because the conversation may be long.
  const characters = opened + charactersOf(prompt.messages.slice(open.messages.length));
  // Providers refuse a limit above the maximum of the model.
  const maxTokens = fitted.output < most ? fitted.output : work.max_tokens;
  const live = services.liveText?.begin({ runId: run.id, step: step.id, attempt: attempt.attempt });
  const asking = services.turns.turn(
    { ...requestOf(attempt, work, prompt), maxTokens },
    {
      signal,
      onPart: piece => {
        if (piece.type === 'text') attempt.wrote?.(piece.text);
        live?.write(piece);
      },
    },
  );
  const answered = await asking.finally(() => live?.end());
  const consumed = consumedBy(answered);
  if (answered.kind === 'failed') {
    const { code, message, retryable, retryAfterMs } = answered;
    const wait = retryAfterMs === undefined ? {} : { retryAfterMs };
    return { kind: 'failed', error: { code, message }, retryable, ...wait, ...consumed };
  }
  const asks = await asksFor(run, signal, services.authority);
  const judging = { work, outside, hidden, asks, tools: services.agentTools };
  const judged = closing === null ? judge(answered.content.filter(isCall), judging) : NOTHING;
  const calls = await granted(judged, { attempt, signal, judging }, services.grants);
  const result = storedTurn({ ...resultOf(answered, judged.problems), sent_characters: characters });
  const context = contextAfter(answered, characters * ratio);
  return {
    kind: 'completed',
    result,
    context,
    ...turnOf(calls, { limit: begun === null ? closing : null, outside: recorded }),
    ...consumed,
  };
}

/**
 * Returns whether the agent must answer now because it makes no progress. Either the last turn has a call that an operation refused with
 * `needs_input`, and no answer of a person, or all calls of the last turns were invalid.
 */
function mustAsk(work: AgentWork, { turns }: AgentProgress, attempt: Attempt): boolean {
  const earlier = turns.filter(({ id }) => id !== attempt.step.id).slice(-MAX_REFUSED_TURNS);
  const ended = earlier.map(turn => ({ turn, result: turnResultOf(attempt.result(turn.id)) }));
  const isRefused = ({ result }: (typeof ended)[number]) => {
    const requestedCalls = result === null ? 0 : callsOf(result).length;
    return requestedCalls > 0 && Object.keys(result?.problems ?? {}).length === requestedCalls;
  };
  if (ended.length === MAX_REFUSED_TURNS && ended.every(isRefused)) return true;
  const last = ended.at(-1);
  const calledTools = (last?.result ? callsOf(last.result) : []).map(({ name }, index) => ({
    tool: toolOf(work, name),
    end: last?.turn.calls.get(index + 1),
  }));
  const isAnswered = calledTools.some(({ tool, end }) => tool?.instance_id === PERSON && end?.status === 'completed');
  return (
    !isAnswered &&
    calledTools.some(({ tool, end }) => tool?.instance_id === PLATFORM && end?.error?.code === NEEDS_INPUT)
  );
}

/** Returns the tokens of the conversation after a turn: the counts of the provider, or an estimate. `sent`: the estimated input tokens. */
function contextAfter({ usage, content }: Extract<TurnAnswer, { kind: 'answer' }>, sent: number): number {
  if (usage.inputTokens > 0) return usage.inputTokens + usage.outputTokens;
  return Math.ceil(sent + charactersOf([{ role: 'assistant', content }]) * ratioOf(null));
}

/** Returns the end of a turn for the log. `limit`: the limit for which this turn became the closing turn. `outside`: the place of text from outside. */
function turnOf(
  calls: TurnCall[],
  { limit, outside }: { limit: AgentLimit | null; outside: string | null },
): { turn?: TurnEnd } {
  if (calls.length === 0 && limit === null && outside === null) return {};
  return { turn: { calls, ...(limit !== null && { limit }), ...(outside !== null && { outside }) } };
}

/** Returns the outcome if the budget does not cover even a short answer: the agent ends with its last text. */
function notMade({ model }: AgentWork, messages: readonly TurnMessage[]): Outcome {
  const lastAnswer = messages.findLast(({ role }) => role === 'assistant');
  const content = lastAnswer?.role === 'assistant' ? lastAnswer.content : [];
  const result: TurnResult = {
    text: textOfContent([...content]),
    content: [],
    finish_reason: 'stop',
    model,
    usage: { input_tokens: 0, output_tokens: 0 },
  };
  return { kind: 'completed', result, turn: { calls: [], limit: 'budget' } };
}

/** Returns the maximum number of tokens of an answer: the setting of the agent, else the maximum of the model. */
function mostOutput({
  work,
  input,
  known,
}: {
  work: AgentWork;
  input: number;
  known: number | null | undefined;
}): number {
  const { max_tokens, context_window = DEFAULT_CONTEXT_WINDOW } = work;
  return max_tokens ?? known ?? Math.max(0, context_window - input);
}

function requestOf({ run, step, traceparent }: Attempt, work: AgentWork, prompt: Prompt): TurnRequest {
  const { model, temperature, response_schema } = work;
  return {
    tenantId: run.tenantId,
    projectId: run.projectId,
    model,
    ...prompt,
    temperature,
    responseSchema: response_schema as JsonMap | undefined,
    idempotencyKey: `${run.id}:${step.id}`,
    traceparent,
  };
}

type Problems = NonNullable<TurnResult['problems']>;
/** The decided calls. `asked`: the requests of the calls, in the same order. */
type Judged = { calls: TurnCall[]; asked: ToolCallPart[]; problems: Problems };
const NOTHING: Judged = { calls: [], asked: [], problems: {} };
const isCall = (part: { type: string }): part is ToolCallPart => part.type === 'tool_call';

/** The facts for decisions on calls. `outside`: the place of text from outside. `hidden`: the places of private data. */
type Judging = {
  work: AgentWork;
  outside: string | null;
  hidden: readonly PrivatePlace[];
  asks: boolean;
  tools: AgentTools | undefined;
};

/** Decides for each call whether it is made at once, after an approval, or not at all. */
function judge(calls: readonly ToolCallPart[], of: Judging): Judged {
  const judged: Judged = { calls: [], asked: [], problems: {} };
  for (const [index, call] of calls.entries()) {
    const problem = index < MAX_CALLS_IN_TURN ? problemOf(call, of) : tooMany();
    if (problem !== null) judged.problems[String(index + 1)] = problem;
    if (index >= MAX_CALLS_IN_TURN) continue;
    const decided = problem === null ? policyOf(call, of) : ({ policy: 'none' } as const);
    judged.asked.push(call);
    const tool = call.name.slice(0, MAX_TOOL_NAME);
    judged.calls.push({ tool, hash: digestOf(call.arguments), ...decided, ...originOf(call, of) });
  }
  return judged;
}

/** Returns the origin of a called run's input, which the model may have taken from any text that it has read. */
function originOf(
  call: ToolCallPart,
  { work, outside, hidden }: Judging,
): Pick<TurnCall, 'outside_input' | 'private_input'> {
  if (toolOf(work, call.name)?.run === undefined) return {};
  const [first] = hidden;
  return { ...(outside !== null && { outside_input: outside }), ...(first && { private_input: first.place }) };
}

const tooMany = () => ({
  code: 'too_many_calls',
  message: `A turn may call at most ${MAX_CALLS_IN_TURN} tools. Call the rest in the next turn.`,
});

/** Returns the problem of an invalid call; null if it is valid. */
function problemOf(call: ToolCallPart, { work, tools }: Judging): { code: string; message: string } | null {
  if (call.malformed === true) return { code: 'tool_args_invalid', message: 'The arguments are not JSON.' };
  const args = call.arguments;
  if (!isObject(args)) return { code: 'tool_args_invalid', message: 'The arguments are not an object.' };
  if (call.name === READ_RESULT) {
    if (readResultArguments(args) !== null) return null;
    return { code: 'tool_args_invalid', message: `The arguments do not fit the schema of ${READ_RESULT}.` };
  }
  const tool = toolOf(work, call.name);
  if (tool === undefined) {
    const names = work.tools.map(({ name }) => name).join(', ');
    return { code: 'unknown_tool', message: `There is no such tool. There are: ${names}.`.slice(0, 1_000) };
  }
  if (tool.instance_id === PERSON) {
    const question = questionOf(args);
    return 'problem' in question ? { code: 'tool_args_invalid', message: question.problem } : null;
  }
  const problems = tools?.problems(tool.input_schema as JsonMap, args) ?? [];
  return problems.length === 0 ? null : { code: 'tool_args_invalid', message: problems.join(' ').slice(0, 1_000) };
}

function policyOf(
  call: ToolCallPart,
  { work, outside, hidden, asks }: Judging,
): Pick<TurnCall, 'policy' | 'outside' | 'private'> {
  const tool = toolOf(work, call.name);
  // Only read_result is not planned.
  if (tool === undefined) return { policy: 'auto' };
  // Starting a run is no read, even if the workflow only reads. Every role may use memory, which checks the rights itself.
  const isOnlyRead = (tool.read_only && tool.run === undefined) || tool.instance_id === MEMORY;
  if (isOnlyRead && tool.policy === 'auto') return { policy: 'auto' };
  if (isOnlyRead && tool.policy === 'ask_when_private') {
    const unknown = outside === null ? null : firstUnknownTo(hidden, tool);
    return outside === null || unknown === null ? { policy: 'auto' } : { policy: 'ask', outside, private: unknown };
  }
  // Operations check the rights themselves.
  if ((asks && tool.instance_id !== PLATFORM) || tool.policy === 'ask') return { policy: 'ask' };
  return tool.policy === 'ask_when_tainted' && outside !== null ? { policy: 'ask', outside } : { policy: 'auto' };
}

/** Returns the calls, without approvals for those that a grant allows. Grants do not apply to calls for a viewer. */
async function granted(
  { calls, asked }: Judged,
  { attempt, signal, judging }: { attempt: Attempt; signal: AbortSignal; judging: Judging },
  port: AgentGrants | undefined,
): Promise<TurnCall[]> {
  const { work, asks } = judging;
  if (port === undefined || asks || !calls.some(({ policy }) => policy === 'ask')) return calls;
  const grants: readonly AgentGrant[] = await port.of(attempt.run, work.agent_id, signal);
  return calls.map((call, index) => {
    const part = asked[index];
    const tool = part === undefined ? undefined : toolOf(work, part.name);
    if (call.policy !== 'ask' || tool === undefined) return call;
    const grant = grantFor(grants, tool, part?.arguments);
    if (grant === undefined) return call;
    const { outside: _, private: _private, ...others } = call;
    return { ...others, policy: 'auto', grant: grant.id };
  });
}

/** Returns the tool with the name that the model uses. */
export function toolOf({ tools }: AgentWork, name: string): PlannedTool | undefined {
  return tools.find(tool => tool.name === name);
}

/** Returns whether the user of the run is a viewer, whose other calls than reads need an approval. */
async function asksFor(
  run: Attempt['run'],
  signal: AbortSignal,
  authority: RunAuthority | undefined,
): Promise<boolean> {
  if (authority === undefined) return false;
  const standing = await authority.standing(run, signal);
  return decideCall(standing, { readOnly: false, scope: 'mcp:execute', approved: false }).kind === 'ask';
}

function resultOf(answer: Extract<TurnAnswer, { kind: 'answer' }>, problems: Problems): TurnResult {
  const { content, object, finishReason, model, usage } = answer;
  return {
    text: textOfContent(content),
    content,
    ...(object !== undefined && { object }),
    finish_reason: finishReason,
    model,
    usage: {
      input_tokens: usage.inputTokens,
      output_tokens: usage.outputTokens,
      ...(usage.estimated && { estimated: usage.estimated }),
    },
    ...(Object.keys(problems).length > 0 && { problems }),
  };
}

/** Returns the tokens that an answer has used. */
export function consumedBy({ usage }: TurnAnswer): { consumed?: Consumption[] } {
  const all: Consumption[] = [
    { action: 'llm_input_tokens', quantity: usage?.inputTokens ?? 0 },
    { action: 'llm_output_tokens', quantity: usage?.outputTokens ?? 0 },
  ];
  const consumed = all.filter(({ quantity }) => quantity > 0);
  return consumed.length === 0 ? {} : { consumed };
}
