import { describe, expect, test } from 'vitest';
import { burnDown, daysAtThisPace } from './burn-down-series.ts';

const at = (text: string) => Date.parse(text);

describe('the burn-down of a period', () => {
  test('is computed backward from the current balance', () => {
    const points = burnDown({
      from: at('2026-03-01T15:00:00.000Z'),
      now: at('2026-03-04T09:00:00.000Z'),
      remaining: 70,
      days: [
        { key: '2026-03-01', microcredits: 10 },
        { key: '2026-03-03', microcredits: 60 },
        { key: '2026-03-04', microcredits: 10 },
      ],
      moves: [
        { created_at: '2026-03-01T15:00:00.000Z', trial: 0, included: 100, payg: 0 },
        { created_at: '2026-03-03T12:00:00.000Z', trial: 0, included: 0, payg: 50 },
      ],
    });
    expect(points).toEqual([
      { at: '2026-03-01T00:00:00.000Z', remaining: 90, consumed: 10 },
      { at: '2026-03-02T00:00:00.000Z', remaining: 90, consumed: 0 },
      { at: '2026-03-03T00:00:00.000Z', remaining: 80, consumed: 60 },
      { at: '2026-03-04T00:00:00.000Z', remaining: 70, consumed: 10 },
    ]);
  });

  test('counts credits until the moment at which they expire', () => {
    const points = burnDown({
      from: at('2026-03-01T00:00:00.000Z'),
      now: at('2026-03-02T01:00:00.000Z'),
      remaining: 5,
      days: [],
      moves: [{ created_at: '2026-03-02T00:30:00.000Z', trial: -20, included: 0, payg: 0 }],
    });
    expect(points.map(({ remaining }) => remaining)).toEqual([25, 5]);
  });

  test('is never negative', () => {
    const points = burnDown({
      from: at('2026-03-01T00:00:00.000Z'),
      now: at('2026-03-02T00:00:00.000Z'),
      remaining: 50,
      days: [],
      moves: [{ created_at: '2026-03-02T00:00:00.000Z', trial: 0, included: 0, payg: 60 }],
    });
    expect(points[0]?.remaining).toBe(0);
  });
});

describe('the pace', () => {
  const day = (remaining: number, consumed: number) => ({ at: '2026-03-01T00:00:00.000Z', remaining, consumed });
  test('is the mean of the last seven days', () => {
    expect(daysAtThisPace([day(1000, 9000), ...Array.from({ length: 7 }, () => day(70, 10))])).toBe(7);
  });
  test('is null if nothing is used, or nothing is left', () => {
    expect(daysAtThisPace([day(0, 10)])).toBeNull();
    expect(daysAtThisPace([day(70, 0)])).toBeNull();
    expect(daysAtThisPace([])).toBeNull();
  });
});
