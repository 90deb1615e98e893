const DAY = /^\d{4}-\d{2}-\d{2}$/;

/** Whether it is a day of the calendar, written "2026-03-09". */
export function isDay(text: string): boolean {
  if (!DAY.test(text)) return false;
  const midnight = Date.parse(`${text}T00:00:00.000Z`);
  return !Number.isNaN(midnight) && new Date(midnight).toISOString().startsWith(text);
}
