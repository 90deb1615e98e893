import type { JsonMap } from '../../../orchestrator/core/index.ts';
import { isoTimestamp } from '../../../platform/clock.ts';
import type { FoldedEvent } from './run-state.ts';

/**
 * An event as the database returns it. It is an array, because field names would be two thirds of the bytes of 20,000
 * events.
 */
export type StoredEvent = [
  seq: number,
  type: string,
  step: string | null,
  attempt: number | null,
  at: number,
  data: JsonMap | null,
];

/** Returns a stored event in the form from which the state is folded. */
export function toFoldedEvent([seq, event_type, step, attempt, at, data]: StoredEvent): FoldedEvent {
  return {
    seq,
    event_type,
    ...(step !== null && { step_id: step }),
    ...(attempt !== null && { attempt }),
    data: data ?? {},
    created_at: isoTimestamp(at),
  };
}
