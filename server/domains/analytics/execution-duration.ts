import type { z } from 'zod';
import type { Context } from '../../operation/context.ts';
import { Histogram } from './histogram.ts';
import type { AnalyticsInput, ExecutionDuration } from './schemas.ts';
import { queryRollups } from './snapshot.ts';
import { type DurationRow, listDurations, subjectOf, topWorkflows } from './store.ts';

/**
 * GET /v1/analytics/execution-duration: the time from start to end of runs that completed or failed. Stopped runs are
 * left out: they do not show how long their workflow takes. Throws AppError 422, 503.
 */
export function executionDuration(
  ctx: Context,
  input: z.output<typeof AnalyticsInput>,
): Promise<z.input<typeof ExecutionDuration>> {
  return queryRollups(ctx, input, async ({ db, scope, segments }) => {
    const workflows = await topWorkflows(db, scope, segments, ['runs_completed', 'runs_failed']);
    const whole = subjectOf(scope);
    const ids = new Set([whole, ...workflows.map(({ id }) => id)]);
    const durations = await listDurations(db, scope, segments, [...ids]);
    return {
      ...summaryOf(durations.get(whole) ?? []),
      by_workflow: workflows.map(({ id, name }) => ({
        workflow_id: id,
        workflow_name: name,
        ...summaryOf(durations.get(id) ?? []),
      })),
    };
  });
}

function summaryOf(rows: readonly DurationRow[]) {
  const histogram = new Histogram();
  let runs = 0;
  let totalMs = 0;
  let minMs = Number.POSITIVE_INFINITY;
  let maxMs = 0;
  for (const row of rows) {
    histogram.merge(row.bins);
    runs += row.runs;
    totalMs += row.totalMs;
    minMs = Math.min(minMs, row.minMs);
    maxMs = Math.max(maxMs, row.maxMs);
  }
  const hasRuns = runs > 0;
  // The middle of a bin may lie outside of the durations in it.
  const clamp = (ms: number | null | undefined) => (ms == null ? null : Math.min(maxMs, Math.max(minMs, ms)));
  const [p50, p95, p99] = histogram.percentiles(0.5, 0.95, 0.99);
  return {
    runs,
    avg_ms: hasRuns ? Math.round(totalMs / runs) : null,
    min_ms: hasRuns ? minMs : null,
    max_ms: hasRuns ? maxMs : null,
    p50_ms: clamp(p50),
    p95_ms: clamp(p95),
    p99_ms: clamp(p99),
  };
}
