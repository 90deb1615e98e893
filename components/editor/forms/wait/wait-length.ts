export const UNITS = ['seconds', 'minutes', 'hours', 'days'] as const;
export type Unit = (typeof UNITS)[number];

const SECONDS: Readonly<Record<Unit, number>> = { seconds: 1, minutes: 60, hours: 3_600, days: 86_400 };

/** Returns the largest unit in which a duration is an integer: 7200 seconds are 2 hours, 90 are 90 seconds. */
export function unitOf(seconds: number): Unit {
  if (seconds === 0) return 'seconds';
  return [...UNITS].reverse().find(unit => Number.isInteger(seconds / SECONDS[unit])) ?? 'seconds';
}

export const amountIn = (seconds: number, unit: Unit): number => seconds / SECONDS[unit];

/** Parses a typed amount; null for invalid text. */
export function readAmount(text: string, unit: Unit): number | null {
  const trimmed = text.trim();
  if (!/^\d+(\.\d*)?$|^\.\d+$/.test(trimmed)) return null;
  // Rounded, so that a third of a minute is 20 seconds and not 19.999….
  return Math.round(Number(trimmed) * SECONDS[unit] * 1_000) / 1_000;
}

/** Formats an instant in UTC and in the time zone of the user; null for invalid text. */
export function instantInWords(text: string, zone: string): string | null {
  if (!/^\d{4}-\d\d-\d\dT\d\d:\d\d(:\d\d(\.\d+)?)?(Z|[-+]\d\d:\d\d)$/.test(text.trim())) return null;
  const at = new Date(text.trim());
  if (Number.isNaN(at.getTime())) return null;
  const words = (timeZone: string) =>
    new Intl.DateTimeFormat('en-GB', { dateStyle: 'full', timeStyle: 'short', timeZone }).format(at);
  const here = words(zone);
  return here === words('UTC') ? `${here} UTC` : `${here} your time (${words('UTC')} UTC)`;
}
