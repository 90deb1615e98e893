import { AppError } from '../../../platform/errors.ts';
import {
  type Command,
  type JsonValue,
  MAX_BYTES_PER_JSON_BYTE,
  type RunStartedData,
  type RunState,
  resultSize,
  type StepResult,
  StoredValue,
  sizeOf,
  sizeOfEarlier,
} from '../../core/index.ts';
import { PAYLOAD_THRESHOLD_BYTES } from '../../log/index.ts';

/**
 * The error code of a step whose result the run has no room for, and of a start or a task's
 * answer refused for that reason.
 */
const RUN_TOO_LARGE = 'run_too_large';

/** Throws AppError 422 if the data of a start exceeds the run's budget. */
export function checkStart(data: RunStartedData, maxBytes: number): void {
  const bytes = sizeOf(data.input) + sizeOf(data.trigger_steps) + sizeOf(data.seed_results) + sizeOfEarlier(data);
  if (bytes > maxBytes) throw tooLarge(`The input of the run exceeds the limit of ${mib(maxBytes)} for a run.`);
}

/** A result that is not stored externally takes at most this. */
const MAX_INLINE_BYTES = PAYLOAD_THRESHOLD_BYTES * MAX_BYTES_PER_JSON_BYTE;

/** An approval or a short form is always accepted; otherwise a run that is full could only be stopped. */
const SMALL_ANSWER_BYTES = 4_096;

/**
 * Returns the command that the run has room for: a result that would exceed the budget fails its step. Throws AppError
 * 422 if the result is a person's answer.
 */
export function withinBudget(state: RunState, command: Command, maxBytes: number): Command {
  if (command.type === 'complete_task') {
    const bytes = sizeOf(command.result);
    if (bytes > SMALL_ANSWER_BYTES && state.bytes + bytes > maxBytes) throw tooLarge(messageOf(maxBytes));
    return command;
  }
  if (command.type === 'attempt_expanding') return heldWithin(state, command, command.agent ?? command.items, maxBytes);
  if (command.type === 'attempt_calling') return heldWithin(state, command, command.call.input, maxBytes);
  if (command.type !== 'attempt_succeeded' || fits(state.bytes, command.result, maxBytes)) return command;
  const { step, attempt, result: _, type: _type, turn: _turn, digest: _digest, context: _context, ...rest } = command;
  const error = { code: RUN_TOO_LARGE, message: messageOf(maxBytes) };
  return { ...rest, type: 'attempt_failed', step, attempt, error, retryable: false, random: 0 };
}

/**
 * Returns the command, or a failure of the step if the run has no room for the data that it holds: the items of a loop, the settings and
 * messages of an agent, or the input of a called run.
 */
function heldWithin(
  state: RunState,
  command: Extract<Command, { type: 'attempt_expanding' | 'attempt_calling' }>,
  held: JsonValue,
  maxBytes: number,
): Command {
  if (state.bytes + sizeOf(held) <= maxBytes) return command;
  const { step, attempt, log } = command;
  const error = { code: RUN_TOO_LARGE, message: messageOf(maxBytes) };
  return { type: 'attempt_failed', step, attempt, error, retryable: false, random: 0, log };
}

/** If half a megabyte is left, as it nearly always is, a result that is held inline need not be measured. */
function fits(held: number, result: StepResult, maxBytes: number): boolean {
  const isInline = !(result instanceof StoredValue);
  return (isInline && held + MAX_INLINE_BYTES <= maxBytes) || held + resultSize(result) <= maxBytes;
}

const messageOf = (maxBytes: number): string =>
  `The results of this run exceed the limit of ${mib(maxBytes)} for a run.`;
const tooLarge = (message: string): AppError => new AppError(422, RUN_TOO_LARGE, message);
const mib = (bytes: number): string =>
  bytes >= 1024 * 1024 ? `${Math.floor(bytes / 1024 / 1024)} MiB` : `${bytes} bytes`;
