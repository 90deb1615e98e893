import type { Pool } from 'pg';
import type { JsonMap, JsonValue, RunStartedData } from '../../../orchestrator/core/index.ts';
import { payloadRefs } from '../../../orchestrator/log/decode.ts';
import { findPayloads, listResultEvents, type ResultRow } from '../store.ts';

export type RecordedValue = { value: JsonValue; ref?: { payload_id: string; bytes: number } };
export type RecordedValues = { started: RunStartedData; results: Map<string, RecordedValue> };

/**
 * Returns the start of a run and the results of its steps, from the log. Values that are stored externally are fetched
 * up to `budgetBytes` in total; the others keep their reference. The values of the start are always fetched, because
 * its request limited their size. `only` names the steps whose results are returned; default: all.
 */
export async function readRecordedValues(
  pool: Pool,
  runId: string,
  budgetBytes: number,
  only?: readonly string[],
): Promise<RecordedValues> {
  const rows = await listResultEvents(pool, runId, only);
  const start = rows.find(row => row.event_type === 'run_started');
  if (start === undefined) throw new Error(`The log of run ${runId} has no start.`);
  const completed = rows.filter(isResult);

  const wanted = payloadRefs(start.data).map(found => found.ref.payload_id);
  let left = budgetBytes;
  for (const row of completed) {
    for (const { ref } of payloadRefs(row.data)) {
      if (ref.bytes > left) continue;
      left -= ref.bytes;
      wanted.push(ref.payload_id);
    }
  }
  const payloads = await findPayloads(pool, runId, wanted);
  const started = { ...start.data };
  for (const { field, ref } of payloadRefs(start.data)) {
    started[field] = payloads.get(ref.payload_id) ?? null;
    delete started[`${field}_ref`];
  }
  return {
    // Only RunStartedData is ever written for this event.
    started: started as RunStartedData,
    results: new Map(completed.map(row => [row.step_id, resultOf(row.data, payloads)])),
  };
}

function isResult(row: ResultRow): row is ResultRow & { step_id: string } {
  return row.event_type === 'step_completed' && row.step_id !== null && row.data.skipped !== true;
}

function resultOf(data: JsonMap, payloads: ReadonlyMap<string, JsonValue>): RecordedValue {
  const found = payloadRefs(data).find(({ field }) => field === 'result');
  // A result may be an object with a field `result_ref`. That field is inside `result`, never next to it.
  if (found === undefined) return { value: data.result ?? null };
  const value = payloads.get(found.ref.payload_id);
  return value === undefined ? { value: null, ref: found.ref } : { value };
}
