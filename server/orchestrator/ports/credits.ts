import { type ActionPrices, perAction } from './billable-actions.ts';

/** The prices and the balance of a workspace, in microcredits, at the moment of the read. */
export type TenantCredits = {
  prices: ActionPrices;
  /** Trial, included and pay-as-you-go together. */
  balance: number;
  /** All charges ever made. Compared with the leader's own count, it shows which charges `balance` already includes. */
  consumed: number;
  /** The credits after the last grant, to which the warnings refer. */
  allowance: number;
  /** The setting for a run whose next step cannot be paid. */
  whenExhausted: 'fail' | 'pause';
  /** False: charges are made as far as credits suffice, but no command is refused (`BATON_BILLING=metered`). */
  enforced: boolean;
};

/** The engine's source of a workspace's prices and balance. The engine writes charges itself, in the commit that ends an attempt. */
export interface CreditSource {
  /** Reads a workspace's credits, and opens its account if there is none, so that every charge has one. Rejects if the database is away. */
  load(tenantId: string): Promise<TenantCredits>;
  /** Returns the current credits of `tenantIds`. Called every few seconds, to see what other processes granted or changed. */
  refresh(tenantIds: readonly string[]): Promise<ReadonlyMap<string, TenantCredits>>;
  /** Reports that usage has crossed `percent` of the allowance. Called after the commit, possibly more than once; must not throw. */
  thresholdCrossed(tenantId: string, percent: 80 | 100): void;
}

/** The credits of engines without billing, where everything is free (other simulations, comparison benchmarks). */
export const FREE: TenantCredits = {
  prices: perAction(() => 0),
  balance: 0,
  consumed: 0,
  allowance: 0,
  whenExhausted: 'fail',
  enforced: false,
};
