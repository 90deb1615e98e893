import type { RunSnapshot } from '../../../../contract/orchestrator.ts';
import { type Command, sizeOf } from '../../../core/index.ts';
import type { LargeResult } from '../../../log/index.ts';
import type { AttemptRef } from './run-host.ts';

export type Caller = { resolve(run: RunSnapshot): void; reject(error: unknown): void };

export type Mail = {
  command: Command;
  caller: Caller | null;
  /** The text of the result that the command refers to. */
  large: LargeResult | null;
};

const NOT_STORABLE = 'not_storable';

/** What ends an attempt whose outcome the database refused. */
export function notStorable({ step, attempt }: AttemptRef, random: number): Command {
  const error = { code: NOT_STORABLE, message: 'What the step returned cannot be stored.' };
  return { type: 'attempt_failed', step, attempt, error, retryable: false, random };
}

/**
 * The attempts whose outcomes may be why an entry was refused. What a caller brought may be at fault as well: no step
 * fails for that, its attempt is begun again.
 */
export function toBlame(mail: readonly Mail[]): AttemptRef[] {
  if (mail.some(({ caller }) => caller !== null)) return [];
  return mail.flatMap(({ command }) =>
    'attempt' in command && !isRefusedOutcome(command) ? [{ step: command.step, attempt: command.attempt }] : [],
  );
}

const isRefusedOutcome = (command: Command): boolean =>
  command.type === 'attempt_failed' && command.error.code === NOT_STORABLE;

/** What a run is to decide, in the order in which it came. */
export class Mailbox {
  #mail: Mail[] = [];

  get isEmpty(): boolean {
    return this.#mail.length === 0;
  }

  push(mail: Mail): void {
    this.#mail.push(mail);
  }

  /**
   * Takes as much as one entry of the log may hold, at least one. Hundreds of large results that arrive together would
   * otherwise be one statement of hundreds of megabytes.
   */
  take(maxBytes: number): Mail[] {
    let bytes = 0;
    let count = 0;
    for (const mail of this.#mail) {
      bytes += bytesOf(mail);
      if (count > 0 && bytes > maxBytes) return this.#mail.splice(0, count);
      count += 1;
    }
    return this.takeAll();
  }

  /** Takes everything, and refuses the callers that wait for it. */
  rejectAll(error: unknown): Mail[] {
    const mail = this.takeAll();
    for (const { caller } of mail) caller?.reject(error);
    return mail;
  }

  takeAll(): Mail[] {
    const mail = this.#mail;
    this.#mail = [];
    return mail;
  }
}

/** What the events of a command take in the log, as far as it may be much. */
function bytesOf({ command, large }: Mail): number {
  let bytes = large?.json.length ?? 0;
  switch (command.type) {
    case 'complete_task':
      return sizeOf(command.result);
    case 'attempt_log':
      return lengthOf(command.lines);
    case 'attempt_succeeded':
    case 'attempt_failed':
      if (command.log !== undefined) bytes += lengthOf(command.log);
      return bytes;
    default:
      return bytes;
  }
}

function lengthOf(lines: readonly string[]): number {
  let length = 0;
  for (const line of lines) length += line.length;
  return length;
}
