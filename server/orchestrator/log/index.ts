/**
 * The event log: append-only `run_events` in PostgreSQL, with its projections.
 *
 *   GroupCommitLog            append(entry) → settles after the commit
 *   commitStatement           the one statement that commits a batch; PLANNING: the settings of its session
 *   createLogReader           what a leader reads: runs that move, whole runs with payloads in place
 *   readEvents, readPayload   pages and single values, for the API
 *   toWireEvent               an event as the API shows it
 */
export { DEFAULT_LIMITS, guaranteedShare, type WriterLimits } from './commit-queue.ts';
export { encodeEvents } from './compact-skips.ts';
export { encodeEvent, type LargeResult, PAYLOAD_THRESHOLD_BYTES } from './encode.ts';
export type { LogEntry, NewRun, RunProjection, SearchValue, TaskChange, UsageAction, UsageRow } from './entry.ts';
export { AppendError, GroupCommitLog, type LogSession, MAX_BATCHES } from './group-commit.ts';
export { createLoadJournal, type LoadJournal, type LoadLane } from './load-journal.ts';
export {
  type ActiveRunCounts,
  type ChildRow,
  createLogReader,
  type DescendantCounts,
  type LogReader,
  toWakeUpTimer,
} from './log-reader.ts';
export { type LoggedRun, readEvents, readPayload, readRun, readRuns } from './read.ts';
export type { RunRead } from './read-to-fold.ts';
export { RUN_PROJECTION_FIELDS } from './run-columns.ts';
export { commitStatement, PLANNING } from './statement.ts';
export { toWireEvent, type WireEvent } from './wire-event.ts';
