import { newId } from '../../platform/ids.ts';
import { type JsonValue, type RunEvent, StoredValue } from '../core/index.ts';

/**
 * A field of an event's data larger than this is stored in `run_payloads`
 * (docs/specification/limits.md#payloads). Bytes of JSON.
 */
export const PAYLOAD_THRESHOLD_BYTES = 16 * 1024;

/** Replaces a value that is stored in `run_payloads`, in the event's field `<field>_ref`. */
export type PayloadRef = { payload_id: string; bytes: number };

/** The row of an event, or of several skips (compact-skips.ts): `json` is the text of `data`. */
export type EventRow = {
  seq: number;
  type: RunEvent['type'] | 'steps_skipped';
  step: string | null;
  attempt: number | null;
  json: string;
  at: number;
};
export type PayloadRow = { id: string; json: string; at: number };

/** A large result as JSON text, serialized once, with the id under which it will be stored. */
export type LargeResult = { id: string; json: string };

/**
 * Turns an event into its row, moving large fields into `payloads`. Values are serialized only here. Throws TypeError
 * or RangeError for what JSON cannot represent (a BigInt, a cycle, nesting beyond the stack).
 */
export function encodeEvent(event: RunEvent, seq: number, payloads: PayloadRow[]): EventRow {
  return {
    seq,
    type: event.type,
    step: 'step' in event ? event.step : null,
    attempt: 'attempt' in event ? (event.attempt ?? null) : null,
    json: isStored(event) ? encodeStored(event.data) : encodeData(event.data, event.at, payloads),
    at: event.at,
  };
}

type StoredResult = Extract<RunEvent, { type: 'step_completed' }> & { data: { result: StoredValue } };

function isStored(event: RunEvent): event is StoredResult {
  return event.type === 'step_completed' && 'result' in event.data && event.data.result instanceof StoredValue;
}

/** Encodes a result whose text is already stored, or will be stored with this event. */
function encodeStored({ result, ...rest }: StoredResult['data']): string {
  const ref: PayloadRef = { payload_id: result.id, bytes: result.bytes };
  return JSON.stringify({ result_ref: ref, ...rest });
}

function encodeData(data: RunEvent['data'], at: number, payloads: PayloadRow[]): string {
  const json = JSON.stringify(data);
  // A UTF-16 unit takes at most 3 bytes of UTF-8, so for nearly every event no bytes need to be counted.
  if (json.length * 3 <= PAYLOAD_THRESHOLD_BYTES || Buffer.byteLength(json) <= PAYLOAD_THRESHOLD_BYTES) return json;
  const fields: string[] = [];
  for (const [field, value] of Object.entries(data)) {
    const text = JSON.stringify(value as JsonValue | undefined);
    if (text === undefined) continue;
    const bytes = Buffer.byteLength(text);
    if (bytes <= PAYLOAD_THRESHOLD_BYTES) {
      fields.push(`${JSON.stringify(field)}:${text}`);
      continue;
    }
    const id = newId();
    payloads.push({ id, json: text, at });
    fields.push(`${JSON.stringify(`${field}_ref`)}:{"payload_id":"${id}","bytes":${bytes}}`);
  }
  return `{${fields.join(',')}}`;
}
