import { describe, expect, test } from 'vitest';
import { formatFigure, formatFigureInWords, formatTick } from './figures.ts';
import { timeSeriesFigures } from './time-series.tsx';

describe('figures are formatted by their unit', () => {
  test.each([
    [12_345, 'count', '12,345', '12.3K'],
    [1_204_506_789, 'credits', '1,204.5', '1.2K'],
    [83_500, 'duration', '1 min 23 s', '1 min 23 s'],
    // Never 100% while one is missing.
    [0.99999, 'share', '99.9%', '99.9%'],
  ] as const)('%d as %s', (value, unit, whole, tick) => {
    expect(formatFigure(value, unit)).toBe(whole);
    expect(formatTick(value, unit)).toBe(tick);
  });

  test('credits are not shortened in exact figures and in sentences', () => {
    expect(formatFigure(1_204_506_789, 'credits', { exact: true })).toBe('1,204.506789');
    expect(formatFigureInWords(1_000_000, 'credits')).toBe('1 credit');
  });
});

test('the table of a chart contains each point of each series', () => {
  const figures = timeSeriesFigures({
    points: [
      { at: '2026-03-08T23:00:00.000Z', done: 3, lost: 1 },
      { at: '2026-03-09T23:00:00.000Z', done: 0, lost: 2 },
    ],
    series: [
      { key: 'done', label: 'Done', ink: 'completed' },
      { key: 'lost', label: 'Lost', ink: 'failed' },
    ],
    unit: 'count',
    granularity: 'day',
    timeZone: 'Europe/Berlin',
  });
  expect(figures.columns.map(({ label }) => label)).toEqual(['Period', 'Done', 'Lost']);
  expect(figures.rows).toEqual([
    ['Mon, 9 Mar 2026', 3, 1],
    ['Tue, 10 Mar 2026', 0, 2],
  ]);
});
