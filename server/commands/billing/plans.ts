import { type Command, InvalidArgumentError } from '@commander-js/extra-typings';
import { formatMoney } from '../../domains/billing/payments/money.ts';
import { changePlanFields, retirePlan } from '../../domains/billing/plans/change.ts';
import { listPlanChanges, listPlans, type PlanChangeRow } from '../../domains/billing/plans/store.ts';
import type { PlanRow } from '../../operation/plan.ts';
import { ACTIONS, BILLABLE_ACTIONS } from '../../orchestrator/ports/billable-actions.ts';
import { isoTimestamp } from '../../platform/clock.ts';
import { transact } from '../../platform/postgres/transaction.ts';
import type { Run } from '../command-line.ts';
import type { BillingServices } from './services.ts';
import { credits, table } from './terminal-format.ts';

/** Declares `billing plans`: the catalog, and its changes. */
export function declarePlans(command: Command, run: Run<BillingServices>): void {
  const plans = command.command('plans').description('list, change and retire plans');
  const change = ({ by, clock }: BillingServices) => ({ by, at: clock.now() });
  const named = ({ config }: BillingServices, planCode: string) => ({
    productCode: config.billing.productCode,
    planCode,
  });
  plans
    .command('list', { isDefault: true })
    .description('list the plans')
    .action(() =>
      run(async ({ pool, config }) => ({ text: describePlans(await listPlans(pool, config.billing.productCode)) })),
    );
  plans
    .command('set')
    .description('change fields of a plan; with all fields, create one')
    .argument('<plan>', 'the code of the plan')
    .argument(
      '<field=value...>',
      'fields of the plans file (prices.tool_call=9000); "field=" removes an optional one',
      readField,
    )
    .action((plan, fields) =>
      run(async services => {
        const key = named(services, plan);
        const changed = await transact(services.pool, db => changePlanFields(db, key, fields, change(services)));
        return { text: describePlans([changed]) };
      }),
    );
  for (const verb of ['retire', 'unretire'] as const)
    plans
      .command(verb)
      .description(verb === 'retire' ? 'sell a plan no longer; its subscribers keep it' : 'sell a plan again')
      .argument('<plan>', 'the code of the plan')
      .action(code =>
        run(async services => {
          const key = named(services, code);
          const plan = await transact(services.pool, db => retirePlan(db, key, verb === 'retire', change(services)));
          return {
            text: `${plan.planCode} is ${plan.retired ? 'stop selling a plan; workspaces that have it keep it' : 'sold again'}.`,
          };
        }),
      );
  plans
    .command('history')
    .description('show the changes of a plan')
    .argument('<plan>', 'the code of the plan')
    .action(plan =>
      run(async ({ pool, config }) => ({
        text: describeChanges(await listPlanChanges(pool, config.billing.productCode, plan)),
      })),
    );
}

/** Parses `field=value`: the value is JSON if it parses as such, otherwise text. An empty value removes an optional field. */
function readField(text: string, fields: Record<string, unknown> = {}): Record<string, unknown> {
  const at = text.indexOf('=');
  if (at < 1) throw new InvalidArgumentError('It takes field=value.');
  return { ...fields, [text.slice(0, at)]: readValue(text.slice(at + 1)) };
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
    [
      'plan',
      'name',
      'price',
      'each',
      'included',
      'trial',
      ...BILLABLE_ACTIONS.map(action => ACTIONS[action].heading),
      '',
    ],
    ...plans.map(plan => [
      plan.planCode,
      plan.productName,
      formatMoney(plan.amount, plan.currency),
      `${plan.intervalCount} ${plan.interval}`,
      credits(plan.includedCredits),
      plan.trialEnabled ? `${plan.trialDays} days, ${credits(plan.trialCredits)}` : '-',
      ...BILLABLE_ACTIONS.map(action => credits(plan.prices[action])),
      [plan.onboardingDefault ? 'onboarding default' : '', plan.retired ? 'retired' : ''].filter(Boolean).join(', '),
    ]),
  ]);
}

function describeChanges(changes: readonly PlanChangeRow[]): string {
  if (changes.length === 0) return 'This plan does not exist.';
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
