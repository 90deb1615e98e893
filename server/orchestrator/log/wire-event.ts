import { isoTimestamp } from '../../platform/clock.ts';
import type { JsonMap, RunEvent } from '../core/index.ts';
import type { CommittedEvent } from '../ports/orchestrator.ts';

/** An event record as every surface shows it (docs/specification/events.md#event-record). */
export type WireEvent = {
  seq: number;
  event_type: string;
  run_id: string;
  workflow_id: string;
  step_id?: string;
  attempt?: number;
  data: JsonMap;
  created_at: string;
};

/**
 * A committed event as the events list and the stream send it. A value that is stored externally stays a `<field>_ref`.
 */
export function toWireEvent(committed: CommittedEvent): WireEvent {
  const { event } = committed;
  const wire: WireEvent = {
    seq: committed.seq,
    event_type: event.type,
    run_id: committed.runId,
    workflow_id: committed.workflowId,
    data: wireData(event),
    created_at: isoTimestamp(event.at),
  };
  if ('step' in event) wire.step_id = event.step;
  if ('attempt' in event && event.attempt !== undefined) wire.attempt = event.attempt;
  return wire;
}

/** Times inside data are ms since the epoch in the log and ISO 8601 on the wire. */
function wireData(event: RunEvent): JsonMap {
  if (event.type === 'step_waiting') return { until: isoTimestamp(event.data.until) };
  if (event.type !== 'task_pending') return event.data as JsonMap;
  const { due_at, ...rest } = event.data;
  return { ...rest, due_at: due_at === null ? null : isoTimestamp(due_at) };
}
