import { describe, expect, test } from 'vitest';
import type { Plan } from './wire.ts';
import { codeProblem, counted, daysLeft, discountText, formatDate, planPriceText, trialText } from './words.ts';

const plan: Plan = {
  plan_code: 'pro',
  amount: 4900,
  currency: 'usd',
  interval: 'month',
  interval_count: 1,
  product_name: 'Pro',
  trial_enabled: true,
  trial_requires_card: false,
  trial_days: 14,
  trial_credits_granted: 5_000_000_000,
  onboarding_default: false,
  self_serve_onboarding: true,
  included_credits_granted: 60_000_000_000,
};

describe('a plan in words', () => {
  test('its price', () => {
    expect(planPriceText(plan)).toBe('$49 a month');
    expect(planPriceText({ ...plan, interval_count: 3 })).toBe('$49 every 3 months');
    expect(planPriceText({ ...plan, amount: 0 })).toBe('Free');
  });
  test('its trial', () => {
    expect(trialText(plan)).toBe('14 days with 5,000 credits; no card required');
    expect(trialText({ ...plan, trial_days: 1, trial_requires_card: true })).toBe(
      '1 day with 5,000 credits; a card is required',
    );
  });
});

test('a discount in words', () => {
  const discount = { code: 'SPRING', value: 20, currency: null, months: 3 };
  expect(discountText({ ...discount, kind: 'percent' })).toBe('20% off for 3 months');
  expect(discountText({ ...discount, kind: 'amount', value: 1000, currency: 'eur', months: null })).toBe('€10.00 off');
});

test('days left are rounded up', () => {
  const now = Date.parse('2026-03-09T12:00:00.000Z');
  expect(daysLeft('2026-03-10T11:00:00.000Z', now)).toBe(1);
  expect(daysLeft('2026-03-10T13:00:00.000Z', now)).toBe(2);
  expect(daysLeft('2026-03-08T00:00:00.000Z', now)).toBe(0);
  expect(counted(1, 'day')).toBe('1 day');
  expect(counted(1200, 'day')).toBe('1,200 days');
});

test('a date is the day in UTC', () => expect(formatDate('2026-03-09T23:59:59.000Z')).toBe('9 Mar 2026'));

test('the text for a refused code says what to do', () => {
  expect(codeProblem({ code: 'code_not_valid', message: 'This code is not valid.' })).toContain('Check for typos');
  const often = { code: 'too_many_wrong_codes', message: 'Too many wrong codes; try again later.' };
  expect(codeProblem(often)).toBe(often.message);
});
