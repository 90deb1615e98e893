import type { OperatorServices } from '../../domains/billing/payments/operate.ts';

/** What the billing commands reach. `by` is who runs them. */
export type BillingServices = OperatorServices & { by: string };
