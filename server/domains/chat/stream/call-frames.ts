import type { UIMessageChunk } from 'ai';
import { changeText } from '../../../orchestrator/core/changed-arguments.ts';
import { ASK_USER } from '../../../orchestrator/steps/agent/ask-user.ts';
import type { ToolCallPart } from '../../../orchestrator/steps/agent/turn-messages.ts';
import type { TurnResult } from '../../../orchestrator/steps/agent/turn-result.ts';
import { isObject } from '../../../platform/json.ts';
import type { AnswerEvent } from './frames.ts';

/** Returns the chunks of the calls in a completed turn. A call with a problem is an error, because it is not made. */
export function callsFrames(
  calls: readonly ToolCallPart[],
  problems: NonNullable<TurnResult['problems']>,
  callId: (number: number) => string,
): UIMessageChunk[] {
  return calls.map((call, index): UIMessageChunk => {
    const toolCallId = callId(index + 1);
    const common = { toolCallId, toolName: call.name, input: call.arguments, dynamic: true };
    const problem = problems[String(index + 1)];
    if (problem === undefined) return { type: 'tool-input-available', ...common };
    return { type: 'tool-input-error', ...common, errorText: `${problem.code}: ${problem.message}` };
  });
}

const NOT_REPEATED = 'Baton stopped during the call, which may have happened. It was not repeated.';

/** Returns the chunks of an event of a call. */
export function outcomeOfCall({ event_type: type, data }: AnswerEvent, toolCallId: string): UIMessageChunk[] {
  switch (type) {
    case 'step_completed':
      if (data.skipped !== true)
        return [{ type: 'tool-output-available', toolCallId, output: data.result ?? storedOutput(data.result_ref) }];
      if (data.reason === 'not_approved') return [{ type: 'tool-output-denied', toolCallId }];
      if (data.reason === 'not_repeated') return [{ type: 'tool-output-error', toolCallId, errorText: NOT_REPEATED }];
      return [{ type: 'tool-output-error', toolCallId, errorText: 'The call was not made.' }];
    case 'step_failed': {
      const { code, message } = isObject(data.error) ? data.error : {};
      return [{ type: 'tool-output-error', toolCallId, errorText: `${code}: ${message}` }];
    }
    case 'step_cancelled':
      return [{ type: 'tool-output-error', toolCallId, errorText: 'The call was cancelled.' }];
    default:
      return [];
  }
}

/** Returns the output for a result that is stored externally. Clients read the result by its reference. */
const storedOutput = (ref: unknown) => ({ result_ref: ref ?? null });

/**
 * Returns the chunks of an event of an approval, or of a lost call that asks whether to repeat it. `approvalId` names the run and the task to
 * answer. `call`: the call as the model requested it.
 */
export function approvalOf(
  { event_type: type, data }: AnswerEvent,
  approvalId: string,
  toolCallId: string,
  call?: ToolCallPart,
): UIMessageChunk[] {
  if (type === 'task_pending') return [{ type: 'tool-approval-request', approvalId, toolCallId }];
  if (type === 'task_completed')
    return [{ type: 'tool-approval-response', approvalId, approved: data.approved === true }];
  // The event after `task_completed` has the answer, which shows how a person changed the arguments.
  const isAnswer = type === 'step_completed' && call !== undefined && call.name !== ASK_USER;
  const reason = isAnswer && data.skipped !== true ? changeText(call.arguments, data.result ?? null) : null;
  if (reason !== null) return [{ type: 'tool-approval-response', approvalId, approved: true, reason }];
  return [];
}
