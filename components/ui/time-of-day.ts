const TIME = /^([01]\d|2[0-3]):[0-5]\d(:[0-5]\d(\.\d+)?)?(z|[+-]([01]\d|2[0-3]):[0-5]\d)?$/i;

/** Returns true for a time of day that forms accept: "08:30", also with seconds and an offset. */
export const isTimeOfDay = (text: string): boolean => TIME.test(text);

const HALF_HOURS = 48;

/** The times of a list: each half hour. */
export const halfHours: readonly string[] = Array.from(
  { length: HALF_HOURS },
  (_, index) => `${String(Math.floor(index / 2)).padStart(2, '0')}:${index % 2 === 0 ? '00' : '30'}`,
);

/**
 * Returns the index in the list of the last time that is not after `time`, which starts with "HH:MM"; the index of nine o'clock for any
 * other text.
 */
export function placeOfTime(time: string): number {
  const wanted = isTimeOfDay(time) ? time.slice(0, 5) : '09:00';
  return Math.max(
    0,
    halfHours.findLastIndex(each => each <= wanted),
  );
}
