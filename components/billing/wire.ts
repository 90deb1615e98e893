import type { z } from 'zod';
import type * as schemas from '@/server/domains/billing/schemas.ts';

/** The answers of the billing operations, as the console receives them. */
export type Balances = z.output<typeof schemas.Balances>;
export type BillingStatus = z.output<typeof schemas.BillingStatus>;
export type Plan = z.output<typeof schemas.Plan>;
export type Discount = z.output<typeof schemas.Discount>;
export type Checkout = z.output<typeof schemas.Checkout>;
export type ChangePreview = z.output<typeof schemas.ChangePreview>;
export type PaymentConfig = z.output<typeof schemas.PaymentConfig>;
export type Payment = z.output<typeof schemas.Payment>;
export type LedgerEntry = z.output<typeof schemas.LedgerEntry>;
export type UsageLine = z.output<typeof schemas.UsageLine>;
export type UsageDimensions = z.output<typeof schemas.UsageDimensionsOutput>;
export type UsageDimension = UsageDimensions['dimensions'][number]['by'];
export type UsageItem = UsageDimensions['dimensions'][number]['items'][number];
export type BillableAction = UsageLine['action'];
