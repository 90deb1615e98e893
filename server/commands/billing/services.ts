import type { OperatorServices } from '../../domains/billing/settlement/operate.ts';

/** The dependencies of the billing commands. `by` is the person who runs them. */
export type BillingServices = OperatorServices & { by: string };
