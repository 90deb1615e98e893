import type { Attempt } from '../../ports/step-type.ts';
import type { TurnMessage } from './turn-messages.ts';

/** The conversation before a message. */
export type EarlierMessages = {
  /** The oldest first. */
  readonly messages: readonly TurnMessage[];
  /** Whether earlier answers are known to have read text from outside, which they may quote. */
  readonly isFromOutside: boolean;
  /** Whether private data is known to be in the conversation, beside the results of tools. */
  readonly isPrivate: boolean;
  /** The names of the tools whose results they have read. */
  readonly tools: readonly string[];
};

/** The port of agents that answer in a conversation; the domain of chat implements it. */
export type Conversations = {
  /**
   * Returns what comes before the message that the run answers; nothing for a run that is no answer. Waits while the database is away,
   * until `signal` aborts.
   */
  before(run: Attempt['run'], signal: AbortSignal): Promise<EarlierMessages>;
};

/** The conversation of a run that is no answer. */
export const NO_EARLIER_MESSAGES: EarlierMessages = { messages: [], isFromOutside: false, isPrivate: false, tools: [] };
