import type { z } from 'zod';
import type { Context } from '../../../operation/context.ts';
import type { Services } from '../../../operation/services.ts';
import { cost } from '../../../orchestrator/ports/microcredits.ts';
import { invalid } from '../../../platform/errors.ts';
import { newId } from '../../../platform/ids.ts';
import { insertPayment, type PaymentRow } from '../payments/store.ts';
import { toPaymentView } from '../payments/view.ts';
import type { PaymentConfig, TopUpInput, TopUpOutput } from '../schemas.ts';
import { succeed } from '../settlement/settle.ts';
import { changeSubscription, customerOf } from '../subscriptions/change.ts';
import { saveSubscription } from '../subscriptions/store.ts';

/** GET /v1/config/payment: the settings that the browser needs before a payment. */
export async function paymentConfig({ services }: Context): Promise<z.input<typeof PaymentConfig>> {
  const { payments, topUp } = services;
  return {
    provider: payments.kind,
    publishable_key: payments.publishableKey,
    currency: topUp.currency,
    topup: {
      minimum_amount: topUp.minimumAmount,
      maximum_amount: topUp.maximumAmount,
      microcredits_per_minor_unit: topUp.microcreditsPerMinorUnit,
    },
  };
}

/**
 * POST /v1/billing/topups/payg/intent: requests a payment that grants credits once the browser or an operator confirms
 * it. The subscription is locked, so that the payment is stored before the provider's notification about it arrives.
 */
export async function topUp(
  ctx: Context,
  { amount }: z.output<typeof TopUpInput>,
): Promise<z.input<typeof TopUpOutput>> {
  const { principal, services } = ctx;
  const { payments } = services;
  const credits = creditsFor(services, amount);
  return await changeSubscription(services, principal.tenantId, async held => {
    const { db, row, at } = held;
    const payment: PaymentRow = {
      id: newId(),
      tenantId: row.tenantId,
      kind: 'topup',
      status: 'pending',
      amount,
      currency: services.topUp.currency,
      credits,
      refundedAmount: 0,
      description: 'Top-up',
      provider: payments.kind,
      providerPaymentId: null,
      invoiceUrl: null,
      requestedBy: principal.userId,
      createdAt: at,
      settledAt: null,
    };
    const { currency, description } = payment;
    const key = `${row.tenantId}:topup:${payment.id}`;
    const providerPayment = await payments.topUp(await customerOf(ctx, held), { amount, currency, description, key });
    const status = providerPayment.status === 'succeeded' ? 'pending' : providerPayment.status;
    let made: PaymentRow = { ...payment, status, providerPaymentId: providerPayment.paymentId };
    await insertPayment(db, made);
    if (providerPayment.customerId !== null && providerPayment.customerId !== row.customerId)
      await saveSubscription(
        db,
        {
          ...row,
          provider: providerFor(services, row.subscriptionId, row.provider),
          customerId: providerPayment.customerId,
        },
        at,
      );
    if (providerPayment.status === 'succeeded') made = await succeed(db, made, at);
    const checkout = providerPayment.checkout && {
      provider: payments.kind,
      kind: providerPayment.checkout.kind,
      client_secret: providerPayment.checkout.clientSecret,
    };
    return { payment: toPaymentView(made), checkout, instructions: providerPayment.instructions };
  });
}

/** Returns the provider that has the customer. A subscription of another provider stays with that provider. */
const providerFor = (
  { payments }: Pick<Services, 'payments'>,
  subscriptionId: string | null,
  present: PaymentRow['provider'],
) => (subscriptionId === null ? payments.kind : present);

/** Returns the microcredits that an amount buys. Throws AppError 422 for an amount beyond the deployment's limits. */
export function creditsFor({ topUp: terms }: Pick<Services, 'topUp'>, amount: number): number {
  const { minimumAmount, maximumAmount, microcreditsPerMinorUnit } = terms;
  if (amount < minimumAmount || amount > maximumAmount) {
    const message = `must be from ${minimumAmount} to ${maximumAmount}`;
    throw invalid(`The amount ${message}.`, [{ path: 'amount', message }]);
  }
  return cost(amount, microcreditsPerMinorUnit);
}
