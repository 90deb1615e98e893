import { describe, expect, test } from 'vitest';
import { currentActions, planActions } from './plan-actions.ts';
import type { BillingStatus, Plan } from './wire.ts';

const plan = (plan_code: string, amount: number, trial_enabled = true): Plan => ({
  plan_code,
  ...(amount > 0 ? { payment_price_id: `price_${plan_code}` } : {}),
  amount,
  currency: 'usd',
  interval: 'month',
  interval_count: 1,
  product_name: plan_code,
  trial_enabled,
  trial_requires_card: false,
  trial_days: 14,
  trial_credits_granted: 1,
  onboarding_default: amount === 0,
  self_serve_onboarding: true,
  included_credits_granted: 1,
});
const free = plan('free', 0, false);
const pro = plan('pro', 4900);
const business = plan('business', 29_900);

function at(patch: Partial<BillingStatus>, trialAvailable = true): BillingStatus {
  return {
    provider: 'manual',
    status: 'active',
    plan_code: 'free',
    product_name: 'Free',
    current_period_start: '2026-03-01T00:00:00.000Z',
    current_period_end: '2026-04-01T00:00:00.000Z',
    cancel_at_period_end: false,
    pending_plan_code: null,
    discount: null,
    trial: { available: trialAvailable, plan_code: null, started_at: null, ends_at: null },
    when_exhausted: 'fail',
    enforced: true,
    allowance: 1,
    warnings: [],
    ...patch,
  };
}

describe('the offered actions of a plan', () => {
  test('on the free plan: a trial if still available, or a subscription', () => {
    expect(planActions(pro, at({}), free)).toEqual(['trial', 'subscribe']);
    expect(planActions(pro, at({}, false), free)).toEqual(['subscribe']);
    expect(planActions(plan('lite', 900, false), at({}), free)).toEqual(['subscribe']);
    expect(planActions(free, at({}), free)).toEqual([]);
  });

  test('on a paid plan: change or cancel', () => {
    const status = at({ plan_code: 'pro' });
    expect(planActions(business, status, pro)).toEqual(['change']);
    expect(planActions(pro, status, pro)).toEqual(['cancel']);
    expect(planActions(free, status, pro)).toEqual(['cancel']);
  });

  test('in a trial: pay now, cancel, or subscribe to another plan', () => {
    const trial = at({ plan_code: 'pro', status: 'trialing' }, false);
    expect(planActions(pro, trial, pro)).toEqual(['convert', 'cancel']);
    expect(planActions(business, trial, pro)).toEqual(['subscribe']);
    expect(planActions(free, trial, pro)).toEqual(['cancel']);
    expect(planActions(pro, { ...trial, cancel_at_period_end: true }, pro)).toEqual(['convert']);
  });

  test('a plan that only the operator can assign is not offered', () => {
    const arranged = { ...business, self_serve_onboarding: false };
    expect(planActions(arranged, at({}), free)).toEqual([]);
    expect(planActions(arranged, at({ plan_code: 'pro' }), pro)).toEqual([]);
    expect(planActions(arranged, at({ plan_code: 'business' }), arranged)).toEqual(['cancel']);
  });

  test('a scheduled cancellation or change can be revoked', () => {
    const ending = at({ plan_code: 'pro', cancel_at_period_end: true });
    expect(planActions(pro, ending, pro)).toEqual(['keep']);
    expect(planActions(free, ending, pro)).toEqual([]);
    const changing = at({ plan_code: 'business', pending_plan_code: 'pro' });
    expect(planActions(business, changing, business)).toEqual(['keep']);
    expect(planActions(pro, changing, business)).toEqual([]);
  });

  test('a plan that waits for its first payment can be paid, discarded, or replaced', () => {
    const ended = { available: false, plan_code: 'pro', started_at: '2026-02-01T00:00:00.000Z', ends_at: null };
    const waiting = at({ status: 'incomplete', pending_plan_code: 'pro', trial: ended });
    expect(planActions(pro, waiting, free)).toEqual(['subscribe', 'cancel']);
    expect(planActions(business, waiting, free)).toEqual(['subscribe']);
    expect(planActions(pro, { ...waiting, trial: { ...ended, started_at: null } }, free)).toEqual([
      'trial',
      'subscribe',
      'cancel',
    ]);
    expect(planActions(free, waiting, free)).toEqual([]);
  });

  test('a plan that is no longer sold can be cancelled or replaced', () => {
    const old = at({ plan_code: 'old', status: 'trialing' }, false);
    expect(currentActions(old, undefined)).toEqual(['cancel']);
    expect(planActions(pro, { ...old, status: 'active' }, undefined)).toEqual(['change']);
    expect(planActions(free, old, undefined)).toEqual(['cancel']);
  });

  test('after a plan that is no longer sold ended, a new subscription is offered', () => {
    expect(planActions(pro, at({ plan_code: 'old', status: 'cancelled' }, false), undefined)).toEqual(['subscribe']);
  });
});
