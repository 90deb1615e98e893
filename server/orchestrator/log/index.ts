/**
 * The event log: append-only `run_events` in PostgreSQL, with its projections.
 *
 *   GroupCommitLog            append(entry) → settles after the commit
 *   readRun, readRuns         whole runs, payloads in place, for folding
 *   readEvents, readPayload   pages and single values, for the API
 *   toWireEvent               an event as the API shows it
 */
export { decodeEvent } from './decode.ts';
export { encodeEvent, PAYLOAD_THRESHOLD_BYTES, type PayloadRef } from './encode.ts';
export type { LogEntry, NewRun, RunProjection, TaskChange } from './entry.ts';
export {
  AppendError,
  DEFAULT_LIMITS,
  GroupCommitLog,
  type WriterConnection,
  type WriterLimits,
} from './group-commit.ts';
export { type LoggedRun, readEvents, readPayload, readRun, readRuns } from './read.ts';
export { toWireEvent, type WireEvent } from './wire-event.ts';
