import { DAY_MS, HOUR_MS, isoTimestamp } from '../../platform/clock.ts';
import type { DatabaseClock } from '../../platform/postgres/database-clock.ts';
import type { Queryable } from '../../platform/postgres/transaction.ts';
import { readTrustedAt } from './clock-store.ts';

/** The largest tolerated difference between this machine's clock and the database's. */
export const MAX_CLOCK_SKEW_MS = HOUR_MS;
/**
 * The largest tolerated time since retention last trusted the clock. It runs daily, so a week
 * means several missed days.
 */
export const MAX_CLOCK_ADVANCE_MS = 7 * DAY_MS;

/**
 * Returns in one sentence why retention must not trust `now`, or null if it may. A clock that is a year ahead would
 * delete a year of history. An external database has a second clock; the embedded one shares this machine's, so the
 * stored time of the last trusted pass is compared too. A clock that is behind causes no early deletion.
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
