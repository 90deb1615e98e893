import type { z } from 'zod';
import type { Context } from '../../../operation/context.ts';
import type { Services } from '../../../operation/services.ts';
import { isoTimestamp } from '../../../platform/clock.ts';
import type { Queryable } from '../../../platform/postgres/transaction.ts';
import { viewDiscount } from '../codes/discount.ts';
import { readWarnings } from '../ledger/credit-store.ts';
import { readBalances } from '../ledger/post.ts';
import { setWhenExhausted } from '../ledger/store.ts';
import { toPricingView } from '../plans/view.ts';
import type { ActionPricing, BillingStatus, BillingSummary, SettingsInput } from '../schemas.ts';
import { queryUsage } from '../usage/rollup-store.ts';
import { presentPlan } from './choose.ts';
import { processDueBilling } from './process-due.ts';
import { findNames, readSubscription, type SubscriptionRow } from './store.ts';

type Status = z.input<typeof BillingStatus>;

/** GET /v1/billing/status. */
export async function billingStatus({ principal, services }: Context): Promise<Status> {
  await processDueBilling(services, principal.tenantId);
  return await readStatus(services, services.pool, principal.tenantId);
}

/** Returns the status of a workspace's subscription. Call `processDueBilling` first. */
export async function readStatus(
  services: Pick<Services, 'payments' | 'clock' | 'config'>,
  db: Queryable,
  tenantId: string,
): Promise<Status> {
  const row = await readSubscription(db, tenantId);
  const { productName } = await presentPlan(db, row);
  const { allowance, whenExhausted } = await readBalances(db, tenantId);
  const warnings = await readWarnings(db, tenantId);
  return {
    provider: row.subscriptionId === null ? services.payments.kind : row.provider,
    status: row.status,
    plan_code: row.planCode,
    product_name: productName,
    current_period_start: isoTimestamp(row.period.from),
    current_period_end: isoTimestamp(row.period.to),
    cancel_at_period_end: row.cancelAtPeriodEnd,
    pending_plan_code: row.pendingPlanCode,
    discount: viewDiscount(row.discount, services.clock.now()),
    trial: trialOf(row),
    when_exhausted: whenExhausted,
    enforced: services.config.billing.mode === 'on',
    allowance,
    warnings: warnings.map(({ percent, at }) => ({ percent, at: isoTimestamp(at) })),
  };
}

const trialOf = (row: SubscriptionRow): Status['trial'] => ({
  available: row.trialStartedAt === null && row.subscriptionId === null,
  plan_code: row.trialPlanCode,
  started_at: row.trialStartedAt === null ? null : isoTimestamp(row.trialStartedAt),
  ends_at: row.trialEndsAt === null ? null : isoTimestamp(row.trialEndsAt),
});

/** GET /v1/billing/summary: the usage of the workspace, and of the request's project, in the current period. */
export async function billingSummary({ principal, services }: Context): Promise<z.input<typeof BillingSummary>> {
  const { tenantId, projectId } = principal;
  const { pool } = services;
  await processDueBilling(services, tenantId);
  const row = await readSubscription(pool, tenantId);
  const { productName } = await presentPlan(pool, row);
  const { trial, included, payg } = await readBalances(pool, tenantId);
  const found = await findNames(pool, { tenantId, projectId });
  if (found === null) throw new Error(`the project ${projectId} of ${tenantId} is gone`);
  const used = await queryUsage(
    pool,
    tenantId,
    { from: row.period.from },
    { by: [['project']], timeZone: 'UTC', now: services.clock.now() },
  );
  const projects = used.flat();
  return {
    tenant: {
      id: tenantId,
      name: found.tenant,
      plan_code: row.planCode,
      product_name: productName,
      status: row.status,
      balances: {
        trial_remaining: trial,
        included_remaining: included,
        payg_remaining: payg,
        total_remaining_microcredits: trial + included + payg,
      },
      period_start: isoTimestamp(row.period.from),
      period_end: isoTimestamp(row.period.to),
      consumed_microcredits: projects.reduce((sum, { microcredits }) => sum + microcredits, 0),
    },
    project: {
      id: projectId,
      name: found.project,
      consumed_microcredits: projects.find(({ key }) => key.project === projectId)?.microcredits ?? 0,
    },
  };
}

/** GET /v1/billing/action-pricing: the present price of each action for this workspace. */
export async function actionPricing({ principal, services }: Context): Promise<z.input<typeof ActionPricing>> {
  await processDueBilling(services, principal.tenantId);
  return toPricingView(await presentPlan(services.pool, await readSubscription(services.pool, principal.tenantId)));
}

/** PATCH /v1/billing/settings. */
export async function patchSettings(
  { principal, services }: Context,
  { when_exhausted }: z.output<typeof SettingsInput>,
): Promise<Status> {
  const { tenantId } = principal;
  await processDueBilling(services, tenantId);
  await setWhenExhausted(services.pool, tenantId, when_exhausted);
  services.orchestrator.creditsChanged(tenantId);
  return await readStatus(services, services.pool, tenantId);
}
