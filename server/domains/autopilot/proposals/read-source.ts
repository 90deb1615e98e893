import type { Context } from '../../../operation/context.ts';
import { agentStepType } from '../../../orchestrator/core/index.ts';
import { callsOf, turnResultOf } from '../../../orchestrator/steps/agent/turn-result.ts';
import { isObject } from '../../../platform/json.ts';
import { readAnswerEvents } from '../../chat/answers/read-events.ts';
import { findAnswered, findHistory } from '../../chat/messages/store.ts';
import type { MessagePart } from '../../chat/stream/parts.ts';
import type { ProposalRow } from './store.ts';

/**
 * Tools whose answers hold only the model's own text, the person's answers, and constants of the service. The answers of all other tools
 * may be private to the workspace or written by others.
 */
const HARMLESS_TOOLS: ReadonlySet<string> = new Set([
  'ask_user',
  'autopilot_describe_step_types',
  'autopilot_propose',
  'autopilot_edit_proposal',
  'autopilot_discard_proposal',
  'autopilot_try_proposal',
  'read_result',
]);
/** Arguments with which a harmless tool returns existing data of the project. */
const READING_ARGUMENTS = ['workflow_id', 'supersedes', 'from_run'];

/**
 * Returns the first source that a model read before this request and whose text a proposal could therefore contain. A source is private to
 * the workspace, or from outside. Null: a person makes the request, or the agent knows only the person's words. `unknown`: an assistant over
 * MCP makes the request. Any source that is not known to be harmless counts.
 */
export async function findReadSource(
  ctx: Context,
  row: Pick<ProposalRow, 'workflow_id' | 'thread_id'> | null,
): Promise<string | null> {
  const { agentCall, principal, services, surface } = ctx;
  if (agentCall === undefined) return surface === 'mcp' ? 'unknown' : null;
  if (row !== null && row.workflow_id !== null) return 'workflow';
  const run = { tenantId: principal.tenantId, runId: agentCall.runId };
  const history = await findHistory(services.pool, run);
  if (history === null) return 'input';
  if (row !== null && row.thread_id !== history.threadId) return 'proposal';
  const answeredMessage = await findAnswered(services.pool, run);
  const earlier = history.messages.some(
    ({ role, status }) => role === 'assistant' && ['queued', 'running'].includes(status),
  );
  if (answeredMessage === null || earlier) return 'conversation';
  const parts = [answeredMessage, ...history.messages].flatMap(message => message.parts);
  return parts.map(sourceOfPart).find(found => found !== null) ?? findSourceInRun(ctx, run);
}

/** Returns the source that the model read in this part of a message; null for none. */
function sourceOfPart(part: MessagePart): string | null {
  switch (part.type) {
    case 'data-context':
      return 'context';
    case 'data-recall':
      return 'memory';
    case 'dynamic-tool':
      return sourceOfCall(part.toolName, part.input);
    default:
      return null;
  }
}

function sourceOfCall(name: string, input: unknown): string | null {
  if (!HARMLESS_TOOLS.has(name)) return name;
  const isAbout = isObject(input) && READING_ARGUMENTS.some(field => input[field] !== undefined);
  return isAbout ? name : null;
}

/** Returns the first source that the agent has read in this run; null for none. */
async function findSourceInRun(
  { services }: Context,
  run: { tenantId: string; runId: string },
): Promise<string | null> {
  for await (const { event_type: type, step_id: step, data } of readAnswerEvents(services, run)) {
    if (type === 'step_expanded' && isObject(data.plan) && data.plan.memories !== undefined) return 'memory';
    if (type !== 'step_completed' || step === undefined || agentStepType(step) !== 'agent_turn') continue;
    const turn = turnResultOf(data.result ?? null);
    const read =
      turn === null
        ? 'unknown'
        : callsOf(turn)
            .map(call => sourceOfCall(call.name, call.arguments))
            .find(found => found !== null);
    if (read !== undefined && read !== null) return read;
  }
  return null;
}
