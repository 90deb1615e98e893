/** A month of UTC as a half-open range of time, in ms since the epoch. */
export type Month = { from: number; to: number };

/** Returns the month that contains `at` (ms since the epoch), moved by `offset` months. */
export function monthOf(at: number, offset = 0): Month {
  const date = new Date(at);
  const year = date.getUTCFullYear();
  const month = date.getUTCMonth() + offset;
  return { from: Date.UTC(year, month, 1), to: Date.UTC(year, month + 1, 1) };
}

/** Returns the month as in the name of a partition, such as `2026_11`. */
export function monthName(month: Month): string {
  return new Date(month.from).toISOString().slice(0, 7).replace('-', '_');
}

/**
 * Returns the lowest UUID whose first 48 bits are `at` (ms since the epoch): below every UUIDv7 created then or later.
 */
export function lowestId(at: number): string {
  const hex = at.toString(16).padStart(12, '0');
  return `${hex.slice(0, 8)}-${hex.slice(8)}-0000-0000-000000000000`;
}
