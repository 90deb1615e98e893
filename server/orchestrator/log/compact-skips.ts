import type { JsonMap, RunEvent, SkipReason } from '../core/index.ts';
import type { StoredEvent } from './decode.ts';
import { type EventRow, encodeEvent, type PayloadRow } from './encode.ts';

/**
 * The type of a row that represents several events: skips that were decided together and follow one another
 * (docs/adr/0030). Its `seq` is that of the first, so that the key still fences off a second writer, and it takes as
 * many numbers as it has steps. Readers expand it; `RunEvent` does not have it.
 */
export const STEPS_SKIPPED = 'steps_skipped';
/**
 * Fewer skips stay separate rows: the untaken branch of a condition rarely has more, and a commit passes up to this many rows
 * one by one.
 */
export const MIN_COMPACT_SKIPS = 5;
/** The approximate maximum size of the ids in one row, so that a page in the middle of 100,000 skips does not read all of them. */
const MAX_IDS_BYTES = 16 * 1024;

type Skip = Extract<RunEvent, { type: 'step_completed' }> & { data: { skipped: true; reason: SkipReason } };
/** Steps that were skipped for the same reason, in the order of the log. */
type SkippedSteps = { reason: SkipReason; steps: string[] };

/** Returns the rows of events, of which the first has the number `firstSeq`; large fields are moved into `payloads`. */
export function encodeEvents(events: readonly RunEvent[], firstSeq: number, payloads: PayloadRow[]): EventRow[] {
  const rows: EventRow[] = [];
  for (let index = 0; index < events.length; ) {
    const count = countSkips(events, index);
    if (count >= MIN_COMPACT_SKIPS) {
      rows.push(compactRow(events.slice(index, index + count).filter(isCompactable), firstSeq + index));
      index += count;
      continue;
    }
    const event = events[index];
    if (event !== undefined) rows.push(encodeEvent(event, firstSeq + index, payloads));
    index += 1;
  }
  return rows;
}

/** Returns the number of skips, beginning with this event, that fit in one row. */
function countSkips(events: readonly RunEvent[], from: number): number {
  let bytes = 0;
  let to = from;
  for (let event = events[to]; event !== undefined && isCompactable(event); event = events[to]) {
    bytes += event.step.length + 3;
    if (event.at !== events[from]?.at || bytes > MAX_IDS_BYTES) break;
    to += 1;
  }
  return to - from;
}

/** Returns whether the event skips a step that has not begun. The other two kinds of skips are single decisions about steps of agents. */
function isCompactable(event: RunEvent): event is Skip {
  if (event.type !== 'step_completed' || !('skipped' in event.data) || event.attempt !== undefined) return false;
  return event.data.reason !== 'not_approved' && event.data.reason !== 'not_repeated';
}

function compactRow(skips: readonly Skip[], seq: number): EventRow {
  const groups: SkippedSteps[] = [];
  for (const { step, data } of skips) {
    const last = groups.at(-1);
    if (last?.reason === data.reason) last.steps.push(step);
    else groups.push({ reason: data.reason, steps: [step] });
  }
  const json = JSON.stringify({ skips: groups });
  return { seq, type: STEPS_SKIPPED, step: null, attempt: null, json, at: skips[0]?.at ?? 0 };
}

/** Returns the rows that a row represents, in their order: the row itself, unless it represents several events. */
export function expandRow<Row extends StoredEvent>(row: Row): Row[] {
  if (row.event_type !== STEPS_SKIPPED) return [row];
  const expanded: Row[] = [];
  for (const { reason, steps } of skipsOf(row.data)) {
    for (const step_id of steps) {
      const data: JsonMap = { skipped: true, reason };
      expanded.push({ ...row, seq: row.seq + expanded.length, event_type: 'step_completed', step_id, data });
    }
  }
  return expanded;
}

/** Only `compactRow` writes such rows, and no other role can write the table. */
const skipsOf = (data: JsonMap): SkippedSteps[] => data.skips as SkippedSteps[];

/** SQL: whether the row `e` represents the skip of a step; `step` is an SQL expression. */
export const skipsStep = (step: string): string => `(e.event_type = '${STEPS_SKIPPED}' AND EXISTS (
  SELECT FROM json_array_elements(e.data->'skips') skips, json_array_elements_text(skips->'steps') skipped WHERE skipped = ${step}))`;
