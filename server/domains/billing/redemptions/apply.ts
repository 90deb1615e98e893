import type { z } from 'zod';
import type { Context } from '../../../operation/context.ts';
import { CREDIT } from '../../../orchestrator/ports/microcredits.ts';
import { DAY_MS } from '../../../platform/clock.ts';
import { transact } from '../../../platform/postgres/transaction.ts';
import { type BillingCode, normalizeCode } from '../codes/code.ts';
import { limitGuesses } from '../codes/guesses.ts';
import { codeAlreadyUsed, codeNotValid } from '../codes/refusals.ts';
import { findCode, redeem } from '../codes/store.ts';
import { grantCredits } from '../ledger/post.ts';
import type { ApplyCodeInput, ApplyCodeOutput } from '../schemas.ts';
import { presentPlan } from '../subscriptions/choose.ts';
import { processDueBilling } from '../subscriptions/process-due.ts';
import { readStatus } from '../subscriptions/status.ts';
import { readSubscription } from '../subscriptions/store.ts';
import { applyDiscountCode, applyPromotion } from './apply-discount.ts';
import { extendTrial } from './extend-trial.ts';
import { processOutbox } from './process-outbox.ts';
import { findInOutbox } from './store.ts';

/** The effect of a code; `message` is for people. */
export type Applied = Pick<z.input<typeof ApplyCodeOutput>, 'kind' | 'message' | 'credits_granted'>;

/**
 * POST /v1/billing/codes/apply. A code that is unknown, used up, expired, not yet valid, disabled or of another product
 * or plan gets the same 422 `code_not_valid` after the same work. Throws AppError 409 `code_already_used` (by this workspace),
 * `no_running_trial`, `discount_present`; 429; 503 if the payment provider is unavailable: sending the same code again
 * then continues the redemption.
 */
export async function applyCode(
  ctx: Context,
  { code }: z.output<typeof ApplyCodeInput>,
): Promise<z.input<typeof ApplyCodeOutput>> {
  const { principal, services } = ctx;
  const { tenantId, userId } = principal;
  await processDueBilling(services, tenantId);
  const applied = await limitGuesses(services, { tenantId, userId }, () => attempt(ctx, normalizeCode(code)));
  if (applied === null) throw codeNotValid();
  services.orchestrator.creditsChanged(tenantId);
  return { ...applied, status: await readStatus(services, services.pool, tenantId) };
}

async function attempt(ctx: Context, code: string): Promise<Applied | null> {
  const { pool, clock, config } = ctx.services;
  const { tenantId } = ctx.principal;
  const { productCode } = config.billing;
  const state = await findCode(pool, { productCode, tenantId, code, at: clock.now() });
  switch (state.kind) {
    case 'used': {
      const pending = await findInOutbox(pool, tenantId, code);
      if (pending === null) throw codeAlreadyUsed();
      return await processOutbox(ctx, pending);
    }
    case 'unusable':
      // The provider is asked about a known code too, so that a known code takes as long as an unknown one.
      return await applyPromotion(ctx, code, state.known);
    case 'usable':
      // A code of another plan must take as long as an unknown one, too.
      return (await applyUsable(ctx, state.code)) ?? (await applyPromotion(ctx, code, true));
  }
}

async function applyUsable(ctx: Context, code: BillingCode): Promise<Applied | null> {
  switch (code.kind) {
    case 'credits':
      return await applyCredits(ctx, code);
    case 'trial_days':
      return await extendTrial(ctx, code);
    case 'percent':
    case 'amount':
      return await applyDiscountCode(ctx, code);
  }
}

/** Grants a code's credits as pay-as-you-go credits; returns null if the code is for another plan. */
async function applyCredits({ principal, services }: Context, code: BillingCode): Promise<Applied | null> {
  const { pool, clock } = services;
  const { tenantId, userId } = principal;
  const { productCode, code: name, creditsExpireDays: days } = code;
  const plan = await presentPlan(pool, await readSubscription(pool, tenantId));
  if (code.planCodes.length > 0 && !code.planCodes.includes(plan.planCode)) return null;
  const at = clock.now();
  const amount = await transact(pool, async db => {
    const redemption = await redeem(db, { productCode, tenantId, userId, code: name, at });
    // The grant is the last step, because transactions that charge wait for the account.
    await grantCredits(db, {
      tenantId,
      account: 'payg',
      amount: redemption.code.value,
      expiresAt: days === null ? null : at + days * DAY_MS,
      source: 'code',
      reference: `code:${name}:${redemption.number}`,
      note: `Code ${name}`,
      at,
    });
    return redemption.code.value;
  });
  const until = days === null ? '' : ` They expire in ${days} ${days === 1 ? 'day' : 'days'}.`;
  return { kind: 'credits', message: `${formatCredits(amount)} were added.${until}`, credits_granted: amount };
}

function formatCredits(microcredits: number): string {
  const credits = microcredits / CREDIT;
  return `${credits.toLocaleString('en', { maximumFractionDigits: 6 })} ${credits === 1 ? 'credit' : 'credits'}`;
}
