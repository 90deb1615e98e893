import { withContext } from '../../../orchestrator/steps/agent/message-context.ts';
import { type MessagePart, textOf } from '../stream/parts.ts';

/** Returns the text that an agent reads for a person's message: the message and its context. */
export const textForAgent = (parts: readonly MessagePart[]): string =>
  parts.reduce(
    (text, part) => (part.type === 'data-context' ? withContext(text, presentFields(part.data)) : text),
    textOf(parts),
  );

const presentFields = (data: object) => Object.fromEntries(Object.entries(data).filter(([, value]) => value !== null));

/**
 * Returns the place of text in a message that may be from outside and private; undefined for none. Only the error of a failed run can have
 * this text, because the error may quote anything that the run has read.
 */
export function outsideOfMessage(parts: readonly MessagePart[]): string | undefined {
  const isFailure = parts.some(part => part.type === 'data-context' && part.data.error !== null);
  return isFailure ? 'which quotes the error of a run' : undefined;
}
