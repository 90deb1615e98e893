import type { Config } from '../../operation/config.ts';
import { DAY_MS } from '../../platform/clock.ts';
import { monthOf } from '../../platform/postgres/months.ts';

/** How long data is kept; 0 = forever. */
export type RetentionPolicy = Config['retention'];

/** The instants (ms since the epoch) before which data has expired; null = never. */
export type Cutoffs = {
  /** The instant before which ended runs have expired. */
  runs: number | null;
  /** The first instant of a month; the usage of all months before it has expired. */
  usage: number | null;
  /** The instant before which entries of the audit log have expired. */
  audit: number | null;
};

/** Returns whether the policy keeps all data forever. */
export const keepsAll = ({ runs, usage, audit }: Cutoffs): boolean => runs === null && usage === null && audit === null;

/**
 * Returns the cutoffs of the policy at `now`. The usage of the current month and of `usageMonths`
 * whole months before it is kept.
 */
export function cutoffsAt(policy: RetentionPolicy, now: number): Cutoffs {
  return {
    runs: policy.runDays === 0 ? null : now - policy.runDays * DAY_MS,
    usage: policy.usageMonths === 0 ? null : monthOf(now, -policy.usageMonths).from,
    audit: policy.auditDays === 0 ? null : now - policy.auditDays * DAY_MS,
  };
}
