import type { Config } from '../../contract/config.ts';
import { DAY_MS } from '../../platform/clock.ts';
import { monthOf } from '../../platform/postgres/months.ts';

/** How long things are kept; 0 = for ever. */
export type RetentionPolicy = Config['retention'];

/** Before which instant (ms since the epoch) things are past their retention; null = never. */
export type Cutoffs = {
  /** Runs that ended before it. */
  runs: number | null;
  /** Usage of whole months before it; the first instant of a month. */
  usage: number | null;
  /** Entries of the audit log before it. */
  audit: number | null;
};

/** Whether nothing is ever past. */
export const keepsAll = ({ runs, usage, audit }: Cutoffs): boolean => runs === null && usage === null && audit === null;

/**
 * Returns the bounds of the policy at `now`. Of usage, the current month and `usageMonths` whole months before it are
 * kept.
 */
export function cutoffsAt(policy: RetentionPolicy, now: number): Cutoffs {
  return {
    runs: policy.runDays === 0 ? null : now - policy.runDays * DAY_MS,
    usage: policy.usageMonths === 0 ? null : monthOf(now, -policy.usageMonths).from,
    audit: policy.auditDays === 0 ? null : now - policy.auditDays * DAY_MS,
  };
}
