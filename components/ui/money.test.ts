import { describe, expect, test } from 'vitest';
import { formatMoney, formatPrice, moneyText, parseMoney } from './money.ts';

describe('money', () => {
  test.each([
    [4900, 'usd', '$49.00', '$49'],
    [123_456, 'eur', '€1,234.56', '€1,234.56'],
    [4900, 'jpy', '¥4,900', '¥4,900'],
    [-250, 'usd', '-$2.50', '-$2.50'],
    [100_000, 'usd', '$1,000.00', '$1,000'],
  ])('%d minor units of %s', (minor, currency, money, price) => {
    expect(formatMoney(minor, currency)).toBe(money);
    expect(formatPrice(minor, currency)).toBe(price);
  });

  test.each([
    ['12', 1200],
    ['12.5', 1250],
    ['12.', 1200],
    [' 1,200.07 ', 120_007],
    ['1.10', 110],
    ['0', 0],
  ])('"%s" dollars', (text, minor) => expect(parseMoney(text, 'usd')).toBe(minor));

  test.each(['', '-5', '1.234', '1e3', 'ten', '.5', '$5'])('"%s" is not an amount', text =>
    expect(parseMoney(text, 'usd')).toBeNull(),
  );

  test('a currency without cents accepts none', () => {
    expect(parseMoney('500', 'jpy')).toBe(500);
    expect(parseMoney('500.5', 'jpy')).toBeNull();
    expect(moneyText(500, 'jpy')).toBe('500');
    expect(moneyText(1250, 'usd')).toBe('12.50');
  });
});
