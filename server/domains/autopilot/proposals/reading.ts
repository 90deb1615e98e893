import type { Context } from '../../../operation/context.ts';
import { agentStepType } from '../../../orchestrator/core/index.ts';
import { callsOf, turnResultOf } from '../../../orchestrator/steps/agent/turn-result.ts';
import { isObject } from '../../../platform/json.ts';
import { readAnswerEvents } from '../../chat/answers/read-events.ts';
import { findAnswered, findHistory } from '../../chat/messages/store.ts';
import type { MessagePart } from '../../chat/stream/parts.ts';
import type { ProposalRow } from './store.ts';

/**
 * Tools whose answers hold nothing but what the model has written itself, what the person has answered, and what is the same in
 * every workspace. Everything else is private to the workspace, or was written by others.
 */
const HARMLESS: ReadonlySet<string> = new Set([
  'ask_user',
  'autopilot_describe_step_types',
  'autopilot_propose',
  'autopilot_edit_proposal',
  'autopilot_discard_proposal',
  'autopilot_try_proposal',
  'read_result',
]);
/** Arguments by which such a tool answers about what is there already. */
const ABOUT_OTHERS = ['workflow_id', 'supersedes', 'from_run'];

/**
 * Returns what the author of a request had read before from which text could come into a proposal: anything private to the workspace
 * and anything from outside. Null for a person, and for an agent that knows no more than what the person has said to it. Of an assistant
 * that is connected by MCP it is not known. What cannot be known to be harmless is not.
 */
export async function readBefore(
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
  const asked = await findAnswered(services.pool, run);
  const earlier = history.messages.some(
    ({ role, status }) => role === 'assistant' && ['queued', 'running'].includes(status),
  );
  if (asked === null || earlier) return 'conversation';
  const parts = [asked, ...history.messages].flatMap(message => message.parts);
  return parts.map(readIn).find(found => found !== null) ?? readInRun(ctx, run);
}

/** Returns the source that a part of a message shows the model to have read; null for none. */
function readIn(part: MessagePart): string | null {
  switch (part.type) {
    case 'data-context':
      return 'context';
    case 'data-recall':
      return 'memory';
    case 'dynamic-tool':
      return readByCall(part.toolName, part.input);
    default:
      return null;
  }
}

function readByCall(name: string, input: unknown): string | null {
  if (!HARMLESS.has(name)) return name;
  const isAbout = isObject(input) && ABOUT_OTHERS.some(field => input[field] !== undefined);
  return isAbout ? name : null;
}

/** Returns the first source that the agent has read in the run so far; null for none. */
async function readInRun({ services }: Context, run: { tenantId: string; runId: string }): Promise<string | null> {
  for await (const { event_type: type, step_id: step, data } of readAnswerEvents(services, run)) {
    if (type === 'step_expanded' && isObject(data.plan) && data.plan.memories !== undefined) return 'memory';
    if (type !== 'step_completed' || step === undefined || agentStepType(step) !== 'agent_turn') continue;
    const turn = turnResultOf(data.result ?? null);
    const read =
      turn === null
        ? 'unknown'
        : callsOf(turn)
            .map(call => readByCall(call.name, call.arguments))
            .find(found => found !== null);
    if (read !== undefined && read !== null) return read;
  }
  return null;
}
