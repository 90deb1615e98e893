import type { Context } from '../../operation/context.ts';
import type { WorkflowKind } from '../../operation/workflow-kinds.ts';
import { isoTimestamp } from '../../platform/clock.ts';
import { AppError, unavailable } from '../../platform/errors.ts';
import { isDatabaseAway } from '../../platform/postgres/away.ts';
import { type Queryable, transact } from '../../platform/postgres/transaction.ts';
import { type Segment, segmentsOf } from './buckets.ts';
import { readProgress } from './progress-store.ts';
import { type Range, rangeOf } from './range.ts';
import { findFirstBucket, readFromOneSnapshot, type Scope } from './store.ts';

type Input = Parameters<typeof rangeOf>[0] & Subject;
type Subject = { workflow_id?: string | undefined; kind: WorkflowKind };
export type AnsweredRange = { from: string; to: string; time_zone: string; as_of: string };
export type RollupQuery = { db: Queryable; scope: Scope; range: Range; segments: Segment[]; answered: AnsweredRange };

/**
 * Runs `work` on one snapshot of the database, so that the numbers of an answer agree with each other. Throws AppError 503
 * `analytics_unavailable` if the database is unavailable or does not answer in time.
 */
export async function inSnapshot<T>({ services }: Context, work: (db: Queryable) => Promise<T>): Promise<T> {
  try {
    return await transact(services.pool, async db => {
      await readFromOneSnapshot(db);
      return await work(db);
    });
  } catch (error) {
    if (error instanceof AppError || !isDatabaseAway(error)) throw error;
    throw unavailable('analytics_unavailable', 'Analytics are not available.', 2, error);
  }
}

/**
 * Runs `work` on the rollups of a range and adds the range to its answer. Everything committed before `as_of` is in the
 * answer: `as_of` is now if all usage is rolled up, else the time of the first row that is not. Throws AppError 422 for a
 * range that holds nothing, and 503 `analytics_unavailable` also while the rollups are being built for the first time.
 */
export async function queryRollups<T>(
  ctx: Context,
  input: Input,
  work: (query: RollupQuery) => Promise<T>,
): Promise<T & AnsweredRange> {
  const now = ctx.services.clock.now();
  const scope = scopeOf(ctx, input);
  return inSnapshot(ctx, async db => {
    const { seq, asOf, readySeq, pendingSince } = await readProgress(db);
    if (readySeq === null || seq < readySeq) {
      throw unavailable('analytics_unavailable', 'Analytics are being prepared from the existing runs.', 5);
    }
    const needsFirst = input.from === undefined && (input.window === 'all' || input.to !== undefined);
    const range = rangeOf(input, now, needsFirst ? await findFirstBucket(db, scope) : null);
    const answered: AnsweredRange = {
      from: isoTimestamp(range.from),
      to: isoTimestamp(range.to),
      time_zone: range.zone.name,
      as_of: isoTimestamp(pendingSince === null ? now : Math.min(now, Math.max(asOf, pendingSince))),
    };
    const answer = await work({ db, scope, range, segments: segmentsOf(range.from, range.to), answered });
    return { ...answered, ...answer };
  });
}

/** The caller's own project. */
export function scopeOf({ principal }: Context, { workflow_id: workflowId, kind }: Subject): Scope {
  return { tenantId: principal.tenantId, projectId: principal.projectId, workflowId, kind };
}
