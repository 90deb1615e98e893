import type { Pool } from 'pg';
import type { JsonMap, JsonValue, RunStartedData } from '../../orchestrator/core/index.ts';
import { payloadRefs } from '../../orchestrator/log/decode.ts';
import { findPayloads, listResultEvents, type ResultRow } from './store.ts';

export type RecordedValue = { value: JsonValue; ref?: { payload_id: string; bytes: number } };
export type RecordedValues = { started: RunStartedData; results: Map<string, RecordedValue> };

/**
 * What a run began with and what its steps gave, from the log. Values kept apart are fetched as long as they come to no
 * more than `budgetBytes` together (the start's own always are: the request limits them); the others keep their reference.
 * `only` names the steps whose results are wanted; default: all.
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
    // The log is written from RunStartedData alone.
    started: started as RunStartedData,
    results: new Map(completed.map(row => [row.step_id, resultOf(row.data, payloads)])),
  };
}

function isResult(row: ResultRow): row is ResultRow & { step_id: string } {
  return row.event_type === 'step_completed' && row.step_id !== null && row.data.skipped !== true;
}

function resultOf(data: JsonMap, payloads: ReadonlyMap<string, JsonValue>): RecordedValue {
  const found = payloadRefs(data).find(({ field }) => field === 'result');
  // A result may itself be an object with a field `result_ref`: that one is inside `result`, never beside it.
  if (found === undefined) return { value: data.result ?? null };
  const value = payloads.get(found.ref.payload_id);
  return value === undefined ? { value: null, ref: found.ref } : { value };
}
