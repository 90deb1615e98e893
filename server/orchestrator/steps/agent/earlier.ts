import { isObject } from '../../../platform/json.ts';
import { callId, type JsonMap, type JsonValue, type TurnCall } from '../../core/index.ts';
import type { Attempt, Outcome } from '../../ports/step-type.ts';
import { failed } from '../failure.ts';
import { ratioOf } from './conversation.ts';
import { callsOf, digestOf, turnResultOf } from './turn-result.ts';

/**
 * Returns the end of a step under an agent in the run that this one continues. The turns and calls of that run are not executed again. Null:
 * the step has to be executed.
 */
function earlierEnd(attempt: Attempt): JsonValue {
  return attempt.earlier?.(attempt.step.id) ?? null;
}

/** Returns the earlier failure of a step, or `of` its earlier result; null for a step that has to be executed. */
export function fromEarlier(attempt: Attempt, of: (result: JsonValue) => Outcome): Outcome | null {
  const end = earlierEnd(attempt);
  if (!isObject(end)) return null;
  const { error, result = null } = end;
  if (!isObject(error)) return of(result as JsonValue);
  return failed(String(error.code), String(error.message));
}

/** Returns an earlier turn with its calls. Calls that were made need no approval again. */
export function earlierTurn(attempt: Attempt): Outcome | null {
  return fromEarlier(attempt, result => {
    const turn = turnResultOf(result);
    if (turn === null) return failed('result_missing', 'The turn of the earlier run cannot be read.');
    const calls = callsOf(turn).map(({ name, arguments: args }, index): TurnCall => {
      const wasMade =
        turn.problems?.[index + 1] === undefined && hasEarlier(attempt, callId(attempt.step.id, index + 1));
      return { tool: name.slice(0, 200), hash: digestOf(args), policy: wasMade ? 'auto' : 'none' };
    });
    const { input_tokens, output_tokens } = turn.usage;
    const counted = input_tokens > 0 ? input_tokens + output_tokens : (turn.sent_characters ?? 0) * ratioOf(null);
    const ended = { kind: 'completed', result: result as JsonMap, context: Math.ceil(counted) } as const;
    return calls.length === 0 ? ended : { ...ended, turn: { calls } };
  });
}

const hasEarlier = (attempt: Attempt, step: string): boolean => attempt.earlier?.(step) != null;
