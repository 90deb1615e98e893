import { DAY_MS } from '@/server/platform/clock.ts';
import { creditsInWords } from '../ui/credits.tsx';
import type { Problem } from '../ui/errors.ts';
import { formatMoney, formatPrice } from '../ui/money.ts';
import type { Discount, Plan } from './wire.ts';

const dateFormat = new Intl.DateTimeFormat('en-GB', { dateStyle: 'medium', timeZone: 'UTC' });

/** Formats the day in UTC: "21 Nov 2026". The result is the same on the server and in every browser. */
export function formatDate(iso: string): string {
  return dateFormat.format(new Date(iso));
}

/** Returns the days from one instant to another, rounded up; never negative. */
export function daysLeft(until: string, now: number): number {
  return Math.max(0, Math.ceil((Date.parse(until) - now) / DAY_MS));
}

/** "1 day", "3 days". */
export function counted(count: number, one: string, many = `${one}s`): string {
  return `${count.toLocaleString('en')} ${count === 1 ? one : many}`;
}

/** Returns the period of one price: "month", "3 months". */
export function intervalText(plan: Pick<Plan, 'interval' | 'interval_count'>): string {
  return plan.interval_count === 1 ? plan.interval : `${plan.interval_count} ${plan.interval}s`;
}

/** "$49 a month", "Free". */
export function planPriceText(plan: Plan): string {
  if (plan.amount === 0) return 'Free';
  const each = plan.interval_count === 1 ? `a ${plan.interval}` : `every ${intervalText(plan)}`;
  return `${formatPrice(plan.amount, plan.currency)} ${each}`;
}

/** Describes the trial of a plan: "14 days, 5,000 credits". */
export function trialText(plan: Plan): string {
  const card = plan.trial_requires_card ? '; a card is required' : '; no card required';
  return `${counted(plan.trial_days, 'day')} with ${creditsInWords(plan.trial_credits_granted)}${card}`;
}

/** "20% off for 3 months", "$10.00 off". */
export function discountText(discount: Discount): string {
  const off =
    discount.kind === 'percent'
      ? `${discount.value}% off`
      : `${formatMoney(discount.value, discount.currency ?? 'usd')} off`;
  return discount.months === null ? off : `${off} for ${counted(discount.months, 'month')}`;
}

/** Returns why a code was refused. The server does not reveal the exact reason, so the text suggests what to do. */
export function codeProblem({ code, message }: Pick<Problem, 'code' | 'message'>): string {
  if (code !== 'code_not_valid') return message;
  return 'This code is not valid. Check for typos, or ask the person who gave it to you whether it has expired.';
}
