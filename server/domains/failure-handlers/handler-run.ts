import { derivedId } from '../../platform/ids.ts';
import { FAILURE_HANDLER_TRIGGER } from './trigger-type.ts';

/** The id of the run that handles a failed run: always the same, so that its primary key lets it start once. */
export function handlerRunId(failed: { runId: string; endedAt: Date }): string {
  return derivedId(failed.endedAt.getTime(), [FAILURE_HANDLER_TRIGGER, failed.runId]);
}
