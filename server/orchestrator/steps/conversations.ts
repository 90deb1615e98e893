import type { Attempt } from '../../contract/step-type.ts';
import type { TurnMessage } from './turn-messages.ts';

/** The port of agents that answer in a conversation; the domain of chat implements it. */
export type Conversations = {
  /**
   * Returns the messages before the one that the run answers, the oldest first; none for a run that is no answer. Waits while the
   * database is away, until `signal` aborts.
   */
  before(run: Attempt['run'], signal: AbortSignal): Promise<readonly TurnMessage[]>;
};
