import { describe, expect, test } from 'vitest';
import { readFilters } from './filters.ts';

const NOW = Date.parse('2026-03-09T12:00:00.000Z');
const parseFilters = (query: string) => {
  const params = new URLSearchParams(query);
  return readFilters(key => params.get(key) ?? '', 'Europe/Berlin', NOW);
};

describe('the filters of the URL', () => {
  test('default to a month in the zone of the browser', () => {
    expect(parseFilters('')).toEqual({
      period: 'month',
      from: '',
      to: '',
      granularity: undefined,
      range: { window: 'month', time_zone: 'Europe/Berlin' },
    });
  });

  test('contain a window, a granularity, a workflow and a zone', () => {
    const workflow = '01890000-0000-7000-8000-000000000000';
    const filters = parseFilters(`period=week&granularity=hour&zone=UTC&workflow_id=${workflow}`);
    expect(filters.granularity).toBe('hour');
    expect(filters.range).toEqual({ window: 'week', time_zone: 'UTC', workflow_id: workflow });
  });

  test('contain days, both included, in the zone', () => {
    expect(parseFilters('from=2026-03-01&to=2026-03-29').range).toEqual({
      from: '2026-02-28T23:00:00.000Z',
      // The night of the 29th is one hour shorter.
      to: '2026-03-29T22:00:00.000Z',
      time_zone: 'Europe/Berlin',
    });
  });

  test('mean the same period when the two days are swapped', () => {
    expect(parseFilters('from=2026-03-29&to=2026-03-01').range).toEqual(
      parseFilters('from=2026-03-01&to=2026-03-29').range,
    );
  });

  test('are ignored if they are malformed', () => {
    expect(
      parseFilters('period=decade&granularity=second&zone=Mars/Olympus&workflow_id=1&from=2026-13-45&to=2026-02-31'),
    ).toEqual(parseFilters(''));
  });

  test('offer hours only for a period whose hours fit into one answer', () => {
    expect(parseFilters('period=all&granularity=hour').granularity).toBeUndefined();
    expect(parseFilters('to=2026-03-01&granularity=hour').granularity).toBeUndefined();
    expect(parseFilters('from=2025-12-17&granularity=hour').granularity).toBe('hour');
    expect(parseFilters('from=2025-12-16&granularity=hour').granularity).toBeUndefined();
  });
});
