import { ledgerOperations } from './credits/operations.ts';
import { paymentOperations } from './payments/operations.ts';
import { planOperations } from './plans/operations.ts';
import { stripeOperations } from './provider-events/operations.ts';
import { codeOperations } from './redemptions/operations.ts';
import { subscriptionOperations } from './subscriptions/operations.ts';
import { topUpOperations } from './top-ups/operations.ts';
import { usageOperations } from './usage/operations.ts';

/** The operations on credits, plans and payments. */
export const billingOperations = [
  ...planOperations,
  ...subscriptionOperations,
  ...paymentOperations,
  ...topUpOperations,
  ...ledgerOperations,
  ...usageOperations,
  ...codeOperations,
  ...stripeOperations,
] as const;
