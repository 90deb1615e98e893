import { describe, expect, test } from 'vitest';
import { creditsInWords, formatCredits, formatCreditsShort } from './credits.tsx';

describe('credits', () => {
  test.each([
    [0, '0'],
    [1, '0.000001'],
    [20, '0.00002'],
    [123_456, '0.123'],
    [999_999, '0.999'],
    [1_000_000, '1'],
    [1_500_000, '1.5'],
    [99_999_999, '99.99'],
    [1_204_506_789, '1,204.5'],
    [-2_500_000, '-2.5'],
  ])('%d microcredits read %s', (microcredits, text) => expect(formatCredits(microcredits)).toBe(text));

  test('are exact to the microcredit if requested, up to the largest amount', () => {
    expect(formatCredits(1_204_506_789, { exact: true })).toBe('1,204.506789');
    expect(formatCredits(Number.MAX_SAFE_INTEGER, { exact: true })).toBe('9,007,199,254.740991');
    expect(formatCredits(Number.MAX_SAFE_INTEGER - 1, { exact: true })).toBe('9,007,199,254.74099');
  });

  test('one is a credit, all other amounts are credits', () => {
    expect(creditsInWords(1_000_000)).toBe('1 credit');
    expect(creditsInWords(10)).toBe('0.00001 credits');
  });

  test('are short on an axis', () => {
    expect(formatCreditsShort(1_234_000_000)).toBe('1.23K');
    expect(formatCreditsShort(50_000)).toBe('0.05');
  });
});
