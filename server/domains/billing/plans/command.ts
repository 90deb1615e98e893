import type { PlanRow } from '../../../contract/plan.ts';
import { isoTimestamp } from '../../../platform/clock.ts';
import { transact } from '../../../platform/postgres/transaction.ts';
import { type Command, credits, done, required, table } from '../operator-command.ts';
import { formatMoney } from '../payments/money.ts';
import { changePlanFields, retirePlan } from './change.ts';
import { listPlanChanges, listPlans, type PlanChangeRow } from './store.ts';

export const plansUsage = `npm run billing -- plans [list]
npm run billing -- plans set <plan> field=value …      (fields of the plans file; prices.tool_call=9000)
npm run billing -- plans retire <plan> | unretire <plan>
npm run billing -- plans history <plan>`;

/** `npm run billing -- plans …`: the catalogue, and its changes. */
export const plansCommand: Command = async (services, args, by) => {
  const { pool, clock, config } = services;
  const { productCode } = config.billing;
  const [verb = 'list', planCode, ...rest] = args;
  const named = () => ({ productCode, planCode: required(planCode, 'The plan') });
  const change = { by, at: clock.now() };
  switch (verb) {
    case 'list':
      return done(describePlans(await listPlans(pool, productCode)));
    case 'set': {
      const fields = readFields(rest);
      return done(describePlans([await transact(pool, db => changePlanFields(db, named(), fields, change))]));
    }
    case 'retire':
    case 'unretire': {
      const plan = await transact(pool, db => retirePlan(db, named(), verb === 'retire', change));
      return done(`${plan.planCode} is ${plan.retired ? 'no longer sold; who has it keeps it' : 'sold again'}.`);
    }
    case 'history':
      return done(describeChanges(await listPlanChanges(pool, productCode, named().planCode)));
    default:
      throw new TypeError(`There is no "plans ${verb}".`);
  }
};

/** `field=value`: JSON where it is some, else text; nothing behind the sign takes an optional field away. */
function readFields(args: readonly string[]): Record<string, unknown> {
  if (args.length === 0) throw new TypeError('field=value is missing.');
  return Object.fromEntries(
    args.map(argument => {
      const at = argument.indexOf('=');
      if (at < 1) throw new TypeError(`"${argument}" is not field=value.`);
      return [argument.slice(0, at), readValue(argument.slice(at + 1))];
    }),
  );
}

function readValue(text: string): unknown {
  if (text === '') return null;
  try {
    return JSON.parse(text);
  } catch {
    return text;
  }
}

function describePlans(plans: readonly PlanRow[]): string {
  return table([
    ['plan', 'name', 'price', 'each', 'included', 'trial', 'step', 'tool call', 'token in', 'token out', ''],
    ...plans.map(plan => [
      plan.planCode,
      plan.productName,
      formatMoney(plan.amount, plan.currency),
      `${plan.intervalCount} ${plan.interval}`,
      credits(plan.includedCredits),
      plan.trialEnabled ? `${plan.trialDays} days, ${credits(plan.trialCredits)}` : '-',
      credits(plan.prices.workflow_step),
      credits(plan.prices.tool_call),
      credits(plan.prices.llm_input_tokens),
      credits(plan.prices.llm_output_tokens),
      [plan.onboardingDefault ? 'onboarding default' : '', plan.retired ? 'retired' : ''].filter(Boolean).join(', '),
    ]),
  ]);
}

function describeChanges(changes: readonly PlanChangeRow[]): string {
  if (changes.length === 0) return 'There is no such plan.';
  return changes
    .flatMap(({ created_at, changed_by, before, after }) => [
      `${isoTimestamp(created_at.getTime())}  ${changed_by}${before === null ? '  (made)' : ''}`,
      ...differences(before ?? {}, after).map(line => `  ${line}`),
    ])
    .join('\n');
}

function differences(before: Record<string, unknown>, after: Record<string, unknown>): string[] {
  const text = (value: unknown) => (value === undefined ? '-' : JSON.stringify(value));
  return [...new Set([...Object.keys(before), ...Object.keys(after)])]
    .filter(field => text(before[field]) !== text(after[field]))
    .map(field => `${field}: ${text(before[field])} → ${text(after[field])}`);
}
