import type { Json } from '@/server/platform/json.ts';

/** Parses `2xx, 404` as the statuses that count as success; undefined for an empty text; null for an invalid list. */
export function readExpected(text: string): Json[] | undefined | null {
  const words = text.split(/[\s,]+/).filter(word => word !== '');
  if (words.length === 0) return undefined;
  const statuses = words.map((word): Json => (/^[2-5]xx$/i.test(word) ? word.toLowerCase() : readStatus(word)));
  return statuses.includes(null) ? null : statuses;
}

const readStatus = (word: string): number | null => (/^[2-5]\d\d$/.test(word) ? Number(word) : null);

export const expectText = (value: unknown): string => (Array.isArray(value) ? value.join(', ') : '');
