import { derivedId } from '../../../platform/ids.ts';
import { FAILURE_HANDLER_TRIGGER } from './failure.ts';

/** Returns the id of the run that handles a failed run: always the same, so its primary key lets it start only once. */
export function handlerRunId(failed: { runId: string; endedAt: Date }): string {
  return derivedId(failed.endedAt.getTime(), [FAILURE_HANDLER_TRIGGER, failed.runId]);
}
