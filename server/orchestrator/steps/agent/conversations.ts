import type { Attempt } from '../../ports/step-type.ts';
import type { TurnMessage } from './turn-messages.ts';

/** The conversation before a message. */
export type EarlierMessages = {
  /** The messages, oldest first. */
  readonly messages: readonly TurnMessage[];
  /** Whether earlier answers have read text from outside, which they may quote. */
  readonly isFromOutside: boolean;
  /** Whether the conversation has private data from other sources than tools. */
  readonly isPrivate: boolean;
  /** The names of the tools whose results earlier answers have read. */
  readonly tools: readonly string[];
};

/** The port of agents that answer in a conversation; the domain of chat implements it. */
export type Conversations = {
  /**
   * Returns the messages before the one that the run answers; none for a run that answers no message. Waits while the database is
   * unavailable, until `signal` aborts.
   */
  before(run: Attempt['run'], signal: AbortSignal): Promise<EarlierMessages>;
};

/** The conversation of a run that answers no message. */
export const NO_EARLIER_MESSAGES: EarlierMessages = { messages: [], isFromOutside: false, isPrivate: false, tools: [] };
