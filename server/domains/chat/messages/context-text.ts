import { withContext } from '../../../orchestrator/steps/agent/message-context.ts';
import { type MessagePart, textOf } from '../stream/parts.ts';

/** Returns the text that an agent reads for a person's message: the message itself, and what it is about. */
export const toldOf = (parts: readonly MessagePart[]): string =>
  parts.reduce(
    (text, part) => (part.type === 'data-context' ? withContext(text, knownOf(part.data)) : text),
    textOf(parts),
  );

const knownOf = (data: object) => Object.fromEntries(Object.entries(data).filter(([, value]) => value !== null));

/**
 * Returns where a message has text that no person wrote into it, which may be from outside and may be private: a failed run may quote what it
 * has read. Undefined: nowhere.
 */
export function outsideOfMessage(parts: readonly MessagePart[]): string | undefined {
  const isFailure = parts.some(part => part.type === 'data-context' && part.data.error !== null);
  return isFailure ? 'which quotes the error of a run' : undefined;
}
