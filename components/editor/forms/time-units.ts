export type TimeUnit = 'seconds' | 'minutes' | 'hours';

export const TIME_UNITS: readonly TimeUnit[] = ['seconds', 'minutes', 'hours'];
const SECONDS: Readonly<Record<TimeUnit, number>> = { seconds: 1, minutes: 60, hours: 3600 };

/** Returns seconds in the largest unit that divides them evenly: 5400 → 90 minutes. */
export function inUnit(seconds: number): { amount: number; unit: TimeUnit } {
  const unit = TIME_UNITS.findLast(each => seconds % SECONDS[each] === 0) ?? 'seconds';
  return { amount: seconds / SECONDS[unit], unit };
}

/** Returns a typed amount in seconds; undefined if the text is not an amount. */
export function inSeconds(amount: string, unit: TimeUnit): number | undefined {
  const seconds = Math.round(Number(amount.trim().replace(',', '.')) * SECONDS[unit]);
  return amount.trim() === '' || !Number.isFinite(seconds) || seconds < 1 ? undefined : seconds;
}
