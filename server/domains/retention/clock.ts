import { DAY_MS, HOUR_MS, isoTimestamp } from '../../platform/clock.ts';
import type { DatabaseClock } from '../../platform/postgres/database-clock.ts';
import type { Queryable } from '../../platform/postgres/transaction.ts';
import { readTrustedAt } from './clock-store.ts';

/** How far this machine's clock and the database's may differ. */
export const MAX_CLOCK_SKEW_MS = HOUR_MS;
/** How far time may have gone on since retention last trusted the clock. It runs daily, so that a week means several lost days. */
export const MAX_CLOCK_ADVANCE_MS = 7 * DAY_MS;

/**
 * Returns why retention must not trust `now`, in one sentence, or null where it may. A clock that is a year ahead would delete
 * a year of history. With an external database its clock is a second one; the embedded one shares this machine's, so that the
 * time of the last trusted pass, which is stored, is the third. A clock that is behind deletes nothing too early.
 */
export async function findClockDoubt(db: Queryable, now: number, databaseClock: DatabaseClock): Promise<string | null> {
  const skew = now - (await databaseClock(db));
  if (Math.abs(skew) > MAX_CLOCK_SKEW_MS) {
    const ahead = skew > 0 ? 'ahead of' : 'behind';
    return `this machine's clock (${isoTimestamp(now)}) is ${duration(Math.abs(skew))} ${ahead} the database's`;
  }
  const last = (await readTrustedAt(db)) ?? now;
  if (now - last <= MAX_CLOCK_ADVANCE_MS) return null;
  return `the clock (${isoTimestamp(now)}) is ${duration(now - last)} ahead of the last pass (${isoTimestamp(last)})`;
}

function duration(ms: number): string {
  const hours = Math.floor(ms / HOUR_MS);
  return hours < 48 ? `${hours} hours` : `${Math.floor(hours / 24)} days`;
}
