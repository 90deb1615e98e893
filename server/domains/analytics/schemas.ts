import { z } from 'zod';
import { Id, Instant, kindFilter, PlainText, Timestamp } from '../../operation/wire.ts';
import { perQuantity } from './action-columns.ts';

export const windows = ['week', 'month', 'all'] as const;
export const granularities = ['hour', 'day', 'week', 'month'] as const;

/** A zone of the IANA database, where days, weeks and months begin. */
export const TimeZone = PlainText(64).refine(isTimeZone, 'must be an IANA time zone').default('UTC');

function isTimeZone(name: string): boolean {
  try {
    new Intl.DateTimeFormat('en', { timeZone: name });
    return true;
  } catch {
    return false;
  }
}

const subject = {
  workflow_id: Id.optional().meta({ description: 'Of any kind: `kind` is not looked at' }),
  kind: kindFilter,
};
const range = {
  window: z
    .enum(windows)
    .optional()
    .meta({ description: 'The last 7 or 30 days in the time zone, today included, or everything; default month' }),
  from: Instant.optional().meta({
    description: 'Instead of a window; any instant, from the beginning of its quarter of an hour on',
  }),
  to: Instant.optional().meta({
    description: 'Before this instant, to the end of its quarter of an hour; default: of the one that runs',
  }),
  time_zone: TimeZone,
  ...subject,
};
const notBoth = (input: { window?: unknown; from?: unknown; to?: unknown }) =>
  input.window === undefined || (input.from === undefined && input.to === undefined);
const ordered = ({ from, to }: { from?: string | undefined; to?: string | undefined }) =>
  from === undefined || to === undefined || from < to;

export const AnalyticsInput = z
  .strictObject(range)
  .refine(notBoth, { path: ['window'], message: 'give either a window or from and to' })
  .refine(ordered, { path: ['to'], message: 'must be after from' });
export const TimeseriesInput = z
  .strictObject({ ...range, granularity: z.enum(granularities).optional() })
  .refine(notBoth, { path: ['window'], message: 'give either a window or from and to' })
  .refine(ordered, { path: ['to'], message: 'must be after from' });
export const LiveRunsInput = z.strictObject(subject);

/**
 * The range of the figures: from inclusive, to exclusive. Both are on a quarter of an hour, to which the requested
 * range is rounded outward. `as_of`: everything committed before is included.
 */
const answeredRange = { from: Timestamp, to: Timestamp, time_zone: z.string(), as_of: Timestamp };
const count = z.number().int().min(0);
const Milliseconds = z.number().int().min(0).nullable();

export const LiveRuns = z.strictObject({
  as_of: Timestamp,
  total: count,
  running: count,
  /** The running runs that only wait for people. */
  blocked: count,
  paused: count,
});
export const SuccessRate = z.strictObject({
  ...answeredRange,
  /** Runs that ended. */
  total: count,
  completed: count,
  failed: count,
  stopped: count,
  /** Completed divided by completed and failed, 0..1; null if there are none. A stopped run counts as neither. */
  success_rate: z.number().min(0).max(1).nullable(),
});
/** Percentiles are within 0.4 % (docs/analytics.md); everything else is exact. */
const durations = {
  runs: count,
  avg_ms: Milliseconds,
  min_ms: Milliseconds,
  max_ms: Milliseconds,
  p50_ms: Milliseconds,
  p95_ms: Milliseconds,
  p99_ms: Milliseconds,
};
export const ExecutionDuration = z.strictObject({
  ...answeredRange,
  ...durations,
  /** The workflows with most runs first, at most 20. */
  by_workflow: z.array(z.strictObject({ workflow_id: Id, workflow_name: z.string().nullable(), ...durations })),
});
export const RunsCount = z.strictObject({
  ...answeredRange,
  started: count,
  completed: count,
  failed: count,
  stopped: count,
  by_trigger: z.array(z.strictObject({ trigger_type: z.string(), started: count })),
  /** Most runs first, at most 20. */
  by_workflow: z.array(
    z.strictObject({ workflow_id: Id, workflow_name: z.string().nullable(), started: count, failed: count }),
  ),
});
export const StepsExecuted = z.strictObject({
  ...answeredRange,
  /** Attempts that ended by themselves. */
  total: count,
  completed: count,
  failed: count,
  retried: count,
});
export const CreditsConsumed = z.strictObject({
  ...answeredRange,
  microcredits: count,
  by_action: z.array(z.strictObject({ action: z.string(), quantity: count, microcredits: count })),
  /** Most credits first, at most 20. */
  by_workflow: z.array(z.strictObject({ workflow_id: Id, workflow_name: z.string().nullable(), microcredits: count })),
});
export const StepsSummary = z.strictObject({
  ...answeredRange,
  steps: z.array(
    z.strictObject({ step_type: z.string(), completed: count, failed: count, retried: count, microcredits: count }),
  ),
});
const series = { ...answeredRange, granularity: z.enum(granularities) };
export const RunsTimeseries = z.strictObject({
  ...series,
  /** Without gaps; `at` is where the hour, day, week (Monday) or month begins in the time zone. At most 2,000. */
  points: z.array(z.strictObject({ at: Timestamp, started: count, completed: count, failed: count, stopped: count })),
});
export const UsageTimeseries = z.strictObject({
  ...series,
  points: z.array(
    z.strictObject({
      at: Timestamp,
      ...perQuantity(() => count),
      microcredits: count,
    }),
  ),
});
