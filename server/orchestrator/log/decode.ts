import type { JsonMap, JsonValue, RunEvent } from '../core/index.ts';
import type { PayloadRef } from './encode.ts';

/** A row of `run_events` as the driver returns it; `data` is parsed JSON and may hold payload references. */
export type StoredEvent = {
  seq: number;
  event_type: string;
  step_id: string | null;
  attempt: number | null;
  data: JsonMap;
  created_at: Date;
};

/** Returns the event that a row holds. Payload references are left in place. */
export function decodeEvent(row: StoredEvent): RunEvent {
  const event: Record<string, unknown> = { at: row.created_at.getTime(), type: row.event_type, data: row.data };
  if (row.step_id !== null) event.step = row.step_id;
  if (row.attempt !== null) event.attempt = row.attempt;
  // Only encodeEvent writes the log, from a RunEvent, and no other role can write its table.
  return event as RunEvent;
}

/** Returns the payload references in an event's data, by the name of the field that each replaces. */
export function payloadRefs(data: JsonMap): { field: string; ref: PayloadRef }[] {
  const found: { field: string; ref: PayloadRef }[] = [];
  for (const key in data) {
    if (!key.endsWith('_ref')) continue;
    const ref = data[key];
    if (isPayloadRef(ref)) found.push({ field: key.slice(0, -'_ref'.length), ref });
  }
  return found;
}

function isPayloadRef(value: JsonValue | undefined): value is PayloadRef {
  return (
    typeof value === 'object' &&
    value !== null &&
    !Array.isArray(value) &&
    typeof value.payload_id === 'string' &&
    typeof value.bytes === 'number'
  );
}
