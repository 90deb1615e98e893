import { describe, expect, test } from 'vitest';
import { readPeriod } from './period-filter.tsx';

const boundsOf = (url: Record<string, string>) =>
  readPeriod(key => url[key] ?? '', Date.parse('2026-03-09T14:05:00.000Z')).bounds;

describe('the period of the URL', () => {
  test('is empty if no period is chosen, even if days are given', () => {
    expect(boundsOf({})).toEqual({});
    expect(boundsOf({ period: 'next year', from: '2026-01-01' })).toEqual({});
  });
  test('counts today as one of the last days', () => {
    expect(boundsOf({ period: '7d' })).toEqual({ from: '2026-03-03T00:00:00.000Z' });
  });
  test('includes both of its days', () => {
    expect(boundsOf({ period: 'custom', from: '2026-02-28', to: '2026-02-28' })).toEqual({
      from: '2026-02-28T00:00:00.000Z',
      to: '2026-03-01T00:00:00.000Z',
    });
  });
  test('ignores an invalid day', () => {
    expect(boundsOf({ period: 'custom', from: '2026-13-45', to: 'soon' })).toEqual({});
  });
});
