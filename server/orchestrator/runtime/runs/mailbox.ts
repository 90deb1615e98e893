import { type Command, sizeOf } from '../../core/index.ts';
import type { LargeResult } from '../../log/index.ts';
import type { RunSnapshot } from '../../ports/orchestrator.ts';
import type { AttemptRef } from './run-host.ts';

export type Caller = { resolve(run: RunSnapshot): void; reject(error: unknown): void };

export type Message = {
  command: Command;
  caller: Caller | null;
  /** The text of the result that the command refers to. */
  large: LargeResult | null;
};

/** The answers to callers, in order. */
export type Settlements = readonly (() => void)[];

const NOT_STORABLE = 'not_storable';

/** The command that ends an attempt whose outcome the database refused. */
export function notStorable({ step, attempt }: AttemptRef, random: number): Command {
  const error = { code: NOT_STORABLE, message: 'What the step returned cannot be stored.' };
  return { type: 'attempt_failed', step, attempt, error, retryable: false, random };
}

/**
 * Returns the attempts whose outcomes may be the reason why an entry was refused. If instead a caller's value was at
 * fault, no step fails: its attempt is started again.
 */
export function suspectAttempts(messages: readonly Message[]): AttemptRef[] {
  if (messages.some(({ caller }) => caller !== null)) return [];
  return messages.flatMap(({ command }) =>
    'attempt' in command && !isRefusedOutcome(command) ? [{ step: command.step, attempt: command.attempt }] : [],
  );
}

const isRefusedOutcome = (command: Command): boolean =>
  command.type === 'attempt_failed' && command.error.code === NOT_STORABLE;

/** The messages to a run, in the order of their arrival. */
export class Mailbox {
  #messages: Message[] = [];

  get isEmpty(): boolean {
    return this.#messages.length === 0;
  }

  push(message: Message): void {
    this.#messages.push(message);
  }

  /**
   * Takes at least one message, and no more than fit into one entry of the log. Otherwise hundreds of large results
   * that arrive together would become one statement of hundreds of megabytes.
   */
  take(maxBytes: number): Message[] {
    let bytes = 0;
    let count = 0;
    for (const message of this.#messages) {
      bytes += bytesOf(message);
      if (count > 0 && bytes > maxBytes) return this.#messages.splice(0, count);
      count += 1;
    }
    return this.takeAll();
  }

  /** Takes all messages, and rejects the callers that wait for them. */
  rejectAll(error: unknown): Message[] {
    const messages = this.takeAll();
    for (const { caller } of messages) caller?.reject(error);
    return messages;
  }

  takeAll(): Message[] {
    const messages = this.#messages;
    this.#messages = [];
    return messages;
  }
}

/** Returns how many bytes the events of a command take in the log, for commands that may be large. */
function bytesOf({ command, large }: Message): number {
  let bytes = large?.json.length ?? 0;
  switch (command.type) {
    case 'complete_task':
      return sizeOf(command.result);
    case 'attempt_log':
      return lengthOf(command.lines);
    case 'attempt_expanding':
      return sizeOf(command.agent ?? command.items);
    case 'attempt_calling':
      return sizeOf(command.call.input);
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
