import { isObject } from '../../../platform/json.ts';
import {
  type AgentProgress,
  addedId,
  approvalId,
  type GraphStep,
  type JsonMap,
  type JsonValue,
  turnId,
} from '../../core/index.ts';
import type { Attempt, Outcome, StepType } from '../../ports/step-type.ts';
import type { WorkflowCaller } from '../call-workflow/workflow-caller.ts';
import { ADDED_STEP_TYPES } from '../descriptions.ts';
import { failed } from '../failure.ts';
import type { ToolAnswer, ToolCaller } from '../mcp-call/tool-caller.ts';
import { askAboutLost, quoted } from '../on-lost.ts';
import { answerTo, PERSON } from './ask-user.ts';
import { ratioOf } from './conversation.ts';
import { fromEarlier } from './earlier.ts';
import { type AgentGrants, grantFor } from './grants.ts';
import { MEMORY, type MemoryTools, REMEMBER, saidTo } from './memory-tools.ts';
import { type AgentWork, type PlannedTool, workOf } from './plan.ts';
import { PLATFORM, type PlatformTools } from './platform-tools.ts';
import { partAt, READ_RESULT, readResult, readResultArguments, SHOWN_CHARACTERS, textOf } from './read-result.ts';
import { callRun, outputOfRun } from './run.ts';
import { decideCall, type RunAuthority, type Standing } from './run-authority.ts';
import { AGENT_STEP } from './step.ts';
import type { AgentTools } from './tools.ts';
import { toolOf } from './turn.ts';
import type { ToolCallPart } from './turn-messages.ts';
import { callsOf, digestOf, turnResultOf } from './turn-result.ts';

export type ToolServices = {
  tools?: ToolCaller | undefined;
  agentTools?: AgentTools | undefined;
  platform?: PlatformTools | undefined;
  authority?: RunAuthority | undefined;
  grants?: AgentGrants | undefined;
  memoryTools?: MemoryTools | undefined;
  workflows?: WorkflowCaller | undefined;
};

/** `agent_tool`: a call that the model of an agent requested. Only agents add this step. */
export function agentTool(services: ToolServices): StepType {
  return {
    type: 'agent_tool',
    ...ADDED_STEP_TYPES.agent_tool,
    ...AGENT_STEP,
    defaultTimeoutS: 300,
    retries: false,
    io: true,
    // `read_result` and `memory_remember` may read any result. Other calls read only their turn and their approval.
    reads: ({ tool, depends_on }: GraphStep) =>
      tool === READ_RESULT || tool === REMEMBER ? 'all' : (depends_on ?? []),
    execute: (attempt, signal) => execute(attempt, signal, services),
  };
}

/** Returns the request of a call from the result of its turn. */
export function askedCall(
  attempt: Attempt,
  agent: AgentProgress,
  step: string,
): { call: ToolCallPart; text: string; ratio: number } | null {
  const { index, name } = addedId(step) ?? { index: 0, name: '' };
  const result = attempt.result(turnId(agent.step, index));
  const turn = turnResultOf(result);
  const call = turn === null ? undefined : callsOf(turn)[Number.parseInt(name, 10) - 1];
  return turn === null || call === undefined ? null : { call, text: turn.text, ratio: ratioOf(result) };
}

async function execute(attempt: Attempt, signal: AbortSignal, services: ToolServices): Promise<Outcome> {
  const { agent, step } = attempt;
  const asked = agent == null ? null : askedCall(attempt, agent, step.id);
  if (agent == null || asked === null)
    return failed('result_missing', 'The turn that asked for the call is missing in the log.');
  const { call, ratio } = asked;
  const earlier = fromEarlier(attempt, result => completed(result, ratio));
  if (earlier !== null) return earlier;
  const approval = step.depends_on?.includes(approvalId(step.id)) ? attempt.result(approvalId(step.id)) : null;
  const work = workOf(agent.settings);
  const tool = toolOf(work, call.name);
  if (attempt.child != null)
    return endOfRun(services.workflows, { attempt, child: attempt.child, tool, signal }, ratio);
  // An answer may have a field `arguments`, so it is handled before the arguments are read.
  if (tool?.instance_id === PERSON) return completed(answerTo(approval), ratio);
  const args = argumentsOf(call, approval);
  if (args === null) return failed('tool_args_invalid', 'The arguments are not an object.');
  if (call.name === READ_RESULT) return readStored(attempt, args, ratio);
  if (tool === undefined) return failed('unknown_tool', 'There is no such tool.');
  const problems = services.agentTools?.problems(tool.input_schema as JsonMap, args) ?? [];
  if (problems.length > 0) return failed('tool_args_invalid', problems.join(' '));
  if (attempt.inDoubt && tool.on_lost === 'ask') return askAboutCall(agent, tool, args);
  if (!(await isStillGranted({ attempt, signal, tool, args, agentId: work.agent_id }, services.grants)))
    return failed('approval_missing', 'The grant that allowed the call without an approval was withdrawn.');
  const withdrawn = await withdrawnApproval(attempt, approval, signal, services.authority);
  if (withdrawn !== null) return withdrawn;
  if (tool.instance_id === PLATFORM) return callOperation(services.platform, { attempt, signal, tool, args, ratio });
  if (tool.instance_id === MEMORY)
    return callMemory(services.memoryTools, agent, work, { attempt, signal, tool, args, ratio });
  const standing = await services.authority?.standing(attempt.run, signal);
  const refusal = refusalOf({ tool, isApproved: approval !== null }, standing);
  if (refusal !== null) return refusal;
  if (tool.run !== undefined)
    return callRun(services.workflows, { attempt, signal, tool: { ...tool, run: tool.run }, args, work, standing });
  if (services.tools === undefined) return failed('unknown_tool', 'There is no such tool.');
  return outcomeOf(await callTool(services.tools, { attempt, signal, tool, args }), ratio);
}

function askAboutCall({ step }: AgentProgress, { tool, instance }: PlannedTool, args: JsonMap): Outcome {
  const did = `calling the tool ${quoted(tool)} of ${quoted(instance)} for the agent ${quoted(step)}`;
  return askAboutLost({ step: `${step} called ${tool}`, did, given: args, example: {}, ofAgent: true });
}

/** Returns the arguments of a call, with the changes of its approval; null if the turn has no call with this number. */
export function argumentsOfCall(turn: JsonValue, number: number, approval: JsonValue): JsonMap | null {
  const result = turnResultOf(turn);
  const call = result === null ? undefined : callsOf(result)[number - 1];
  return call === undefined ? null : argumentsOf(call, approval);
}

/** Returns the arguments of a call. An approval may have changed them. */
function argumentsOf({ arguments: asked }: ToolCallPart, approval: JsonValue): JsonMap | null {
  const answer = isObject(approval) ? approval.arguments : undefined;
  const given = answer === undefined || answer === null ? asked : answer;
  return isObject(given) ? given : null;
}

type Call = { attempt: Attempt; signal: AbortSignal; tool: PlannedTool };

/** Returns the failure of a call without the current rights; null if they suffice. Starting a run needs the scope to start runs. */
function refusalOf(
  { tool, isApproved }: Pick<Call, 'tool'> & { isApproved: boolean },
  standing: Standing | undefined,
): Outcome | null {
  if (standing === undefined) return null;
  const starts = tool.run !== undefined;
  const scope = starts ? 'workflow:run' : 'mcp:execute';
  const decision = decideCall(standing, { readOnly: tool.read_only && !starts, scope, approved: isApproved });
  switch (decision.kind) {
    case 'allowed':
      return null;
    case 'ask':
      return failed('approval_missing', decision.message);
    case 'refused':
      return failed(decision.code, decision.message);
  }
}

/** Calls an operation, which checks the rights of the user itself. Calls of operations have no extra charge. */
async function callOperation(
  platform: PlatformTools | undefined,
  { attempt, signal, tool, args, ratio }: Call & { args: JsonMap; ratio: number },
): Promise<Outcome> {
  if (platform === undefined) return failed('unknown_tool', 'There is no such tool.');
  const { run, step } = attempt;
  const answer = await platform.call({ run, step: step.id, operation: tool.tool, args }, signal);
  return answer.kind === 'result' ? completed(answer.result, ratio) : failed(answer.code, answer.message);
}

/** Returns the failure of a call whose approver may no longer approve calls; null otherwise. */
async function withdrawnApproval(
  { run }: Attempt,
  approval: JsonValue,
  signal: AbortSignal,
  authority: RunAuthority | undefined,
): Promise<Outcome | null> {
  if (approval === null || authority?.mayApprove === undefined) return null;
  const by = isObject(approval) ? approval.completed_by : null;
  if (typeof by === 'string' && (await authority.mayApprove(run, by, signal))) return null;
  const who = typeof by === 'string' ? by : 'The person';
  return failed('approval_missing', `${who}, who approved the call, may not approve calls in this project any more.`);
}

/** Returns whether the grant of a call is still in force. After a pause, it may have been withdrawn long ago. */
async function isStillGranted(
  { attempt, signal, tool, args, agentId }: Call & { args: JsonMap; agentId: string | undefined },
  grants: AgentGrants | undefined,
): Promise<boolean> {
  const { grant } = attempt.step;
  if (grant === undefined || grants === undefined) return grant === undefined;
  return grantFor(await grants.of(attempt.run, agentId, signal), tool, args) !== undefined;
}

function callTool(tools: ToolCaller, { attempt, signal, tool, args }: Call & { args: JsonMap }): Promise<ToolAnswer> {
  const { run, step, traceparent } = attempt;
  const { tenantId, projectId } = run;
  const { instance_id: instanceId, tool: toolName } = tool;
  const idempotencyKey = `${run.id}:${step.id}`;
  return tools.call(
    { tenantId, projectId, instanceId, toolName, args, idempotencyKey, traceparent },
    { signal, log: lines => attempt.log(lines) },
  );
}

/** Calls a memory tool, which checks the rights of the user itself. Its calls have no extra charge. */
async function callMemory(
  memory: MemoryTools | undefined,
  agent: AgentProgress,
  work: AgentWork,
  { attempt, signal, tool, args, ratio }: Call & { args: JsonMap; ratio: number },
): Promise<Outcome> {
  if (memory === undefined || work.memory === undefined) return failed('unknown_tool', 'There is no such tool.');
  const { run, step } = attempt;
  const { agent_id: agentId, ...access } = work.memory;
  const said = tool.tool === REMEMBER ? saidTo(work, agent, attempt) : [];
  const answer = await memory.call({ run, step: step.id, tool: tool.tool, args, agentId, ...access, said }, signal);
  return answer.kind === 'result' ? completed(answer.result, ratio) : failed(answer.code, answer.message);
}

/** Returns the outcome of a tool's answer. `ratio`: the tokens per character. */
function outcomeOf(answer: ToolAnswer, ratio: number): Outcome {
  const consumed = [{ action: 'tool_call' as const, quantity: 1 }];
  if (answer.kind === 'result') return { ...completed(answer.result, ratio), consumed };
  const { code, message, details, unsent } = answer;
  // The failure is not retried, because the model decides whether to call again.
  const error = { code, message, ...(details === undefined ? {} : { details }) };
  return { kind: 'failed', error, retryable: false, ...(unsent ? {} : { consumed }) };
}

/** Returns the outcome of a call whose run has ended. */
async function endOfRun(
  workflows: WorkflowCaller | undefined,
  ended: Parameters<typeof outputOfRun>[1],
  ratio: number,
): Promise<Outcome> {
  const found = await outputOfRun(workflows, ended);
  return found.kind === 'output' ? completed(found.output, ratio) : failed(found.code, found.message);
}

function completed(result: JsonValue, ratio: number): Extract<Outcome, { kind: 'completed' }> {
  const context = Math.ceil(Math.min(SHOWN_CHARACTERS, textOf(result).length) * ratio);
  return { kind: 'completed', result, digest: digestOf(result), context };
}

function readStored(attempt: Attempt, args: JsonMap, ratio: number): Outcome {
  const asked = readResultArguments(args);
  if (asked === null) return failed('tool_args_invalid', `The arguments do not fit the schema of ${READ_RESULT}.`);
  const call = attempt.agent?.turns.flatMap(({ calls }) => [...calls.values()]).find(({ id }) => id === asked.ref);
  if (call?.status !== 'completed') return failed('unknown_result', `There is no result “${asked.ref}”.`);
  const result = attempt.result(asked.ref);
  const part = asked.path === null ? result : partAt(result, asked.path);
  if (part === undefined) return failed('unknown_path', `The result “${asked.ref}” has nothing at “${asked.path}”.`);
  return completed(readResult(part, asked), ratio);
}
