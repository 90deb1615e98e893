import { AppError } from '../../../platform/errors.ts';
import { type Command, type RunStartedData, type RunState, resultSize, sizeOf } from '../../core/index.ts';

/** The code of a step whose result the run has no room for, and of a start or an answer that is refused for the same reason. */
export const RUN_TOO_LARGE = 'run_too_large';

/** Throws AppError 422 if what a run is started with exceeds its budget. */
export function checkStart(data: RunStartedData, maxBytes: number): void {
  const bytes = sizeOf(data.input) + sizeOf(data.trigger_steps) + sizeOf(data.seed_results);
  if (bytes > maxBytes)
    throw tooLarge(`What the run is started with exceeds the ${mib(maxBytes)} that a run may hold.`);
}

/** An approval or a short form is always taken, or a run that is full could only be stopped. */
const SMALL_ANSWER_BYTES = 4_096;

/**
 * The command as the run has room for it: a result that would exceed the budget fails its step. Throws AppError 422 for
 * the answer of a person.
 */
export function withinBudget(state: RunState, command: Command, maxBytes: number): Command {
  if (command.type === 'complete_task') {
    const bytes = sizeOf(command.result);
    if (bytes > SMALL_ANSWER_BYTES && state.bytes + bytes > maxBytes) throw tooLarge(messageOf(maxBytes));
    return command;
  }
  if (command.type !== 'attempt_succeeded' || state.bytes + resultSize(command.result) <= maxBytes) return command;
  const { step, attempt, result: _result, type: _type, ...rest } = command;
  const error = { code: RUN_TOO_LARGE, message: messageOf(maxBytes) };
  return { ...rest, type: 'attempt_failed', step, attempt, error, retryable: false, random: 0 };
}

const messageOf = (maxBytes: number): string =>
  `The results of this run exceed the ${mib(maxBytes)} that a run may hold.`;
const tooLarge = (message: string): AppError => new AppError(422, RUN_TOO_LARGE, message);
const mib = (bytes: number): string =>
  bytes >= 1024 * 1024 ? `${Math.floor(bytes / 1024 / 1024)} MiB` : `${bytes} bytes`;
