import { DAY_MS } from '@/server/platform/clock.ts';
import type { LedgerEntry, UsageItem } from './wire.ts';

export type BurnDownPoint = { at: string; remaining: number; consumed: number };

/**
 * Returns the balance at the end of each day (UTC) of a period so far, computed backward from the current balance: later charges are added,
 * later grants and expiries are subtracted. `days` has the usage by day, and `moves` the ledger entries that are not charges, both for the
 * whole period. Times are in ms since the epoch, credits in microcredits.
 */
export function burnDown(period: {
  from: number;
  now: number;
  remaining: number;
  days: readonly Pick<UsageItem, 'key' | 'microcredits'>[];
  moves: readonly Pick<LedgerEntry, 'created_at' | 'trial' | 'included' | 'payg'>[];
}): BurnDownPoint[] {
  const used = new Map(period.days.map(day => [day.key, day.microcredits]));
  const moved = new Map<string, number>();
  for (const { created_at, trial, included, payg } of period.moves) {
    const day = created_at.slice(0, 10);
    moved.set(day, (moved.get(day) ?? 0) + trial + included + payg);
  }
  const points: BurnDownPoint[] = [];
  let remaining = period.remaining;
  for (let start = startOfDay(period.now); start >= startOfDay(period.from); start -= DAY_MS) {
    const at = new Date(start).toISOString();
    const day = at.slice(0, 10);
    const consumed = used.get(day) ?? 0;
    // Charges beyond the last credit were waived and did not reduce the balance.
    points.push({ at, remaining: Math.max(0, remaining), consumed });
    remaining += consumed - (moved.get(day) ?? 0);
  }
  return points.reverse();
}

const startOfDay = (ms: number) => Math.floor(ms / DAY_MS) * DAY_MS;

/**
 * Returns how many days the balance lasts at the mean usage of the last seven days (today included); null if nothing was used or is left.
 */
export function daysAtThisPace(points: readonly BurnDownPoint[]): number | null {
  const recent = points.slice(-7);
  const used = recent.reduce((sum, { consumed }) => sum + consumed, 0);
  const left = points.at(-1)?.remaining ?? 0;
  return used === 0 || left === 0 ? null : Math.floor((left * recent.length) / used);
}
