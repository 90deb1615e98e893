const DAY = /^\d{4}-\d{2}-\d{2}$/;

/** Returns true for a day of the calendar, written "2026-03-09". */
export function isDay(text: string): boolean {
  if (!DAY.test(text)) return false;
  const midnight = Date.parse(`${text}T00:00:00.000Z`);
  return !Number.isNaN(midnight) && new Date(midnight).toISOString().startsWith(text);
}

const DAY_MS = 86_400_000;
const write = (at: number): string => new Date(at).toISOString().slice(0, 10);
const timeOfDay = (day: string): number => Date.parse(`${day}T00:00:00.000Z`);

/** Returns today, in the browser's time zone. */
export function today(now = new Date()): string {
  return write(now.getTime() - now.getTimezoneOffset() * 60_000);
}

/** Returns the day that is `days` days later. */
export const dayAfter = (day: string, days: number): string => write(timeOfDay(day) + days * DAY_MS);

/** Returns the same day `months` later, or the last day of a shorter month. */
export function monthAfter(day: string, months: number): string {
  const [year = 0, month = 0, date = 0] = day.split('-').map(Number);
  const last = new Date(Date.UTC(year, month + months, 0)).getUTCDate();
  return write(Date.UTC(year, month - 1 + months, Math.min(date, last)));
}

/** Returns six weeks, each starting on Monday, that contain the month of a day. Always six, so that nothing moves. */
export function monthGrid(day: string): string[][] {
  const first = `${day.slice(0, 7)}-01`;
  const sinceMonday = (new Date(timeOfDay(first)).getUTCDay() + 6) % 7;
  return Array.from({ length: 6 }, (_, week) =>
    Array.from({ length: 7 }, (_, weekday) => dayAfter(first, week * 7 + weekday - sinceMonday)),
  );
}
