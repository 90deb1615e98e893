import { expect } from 'vitest';
import type { z } from 'zod';
import { readBalances } from '../../domains/billing/ledger/post.ts';
import type { Balances } from '../../domains/billing/ledger/store.ts';
import { billingOperations } from '../../domains/billing/operations.ts';
import type { BillingStatus, ChangePlanOutput, SubscriptionOutput } from '../../domains/billing/schemas.ts';
import { confirmPayment } from '../../domains/billing/settlement/operate.ts';
import type { Services } from '../../operation/services.ts';
import { DAY_MS, ManualClock } from '../../platform/clock.ts';
import { createCall } from '../call.ts';
import { createTestServices, createTestTenant, type TestTenant } from '../identity.ts';
import { createTestDatabase, type TestDatabase } from '../postgres.ts';

export type Status = z.output<typeof BillingStatus>;
export type Subscribed = z.output<typeof SubscriptionOutput>;
export type Changed = z.output<typeof ChangePlanOutput>;

export const DAY = DAY_MS;
export const CREDITS = 1_000_000;
/** The included credits of the built-in catalog. */
export const FREE = 10_000 * CREDITS;
export const PRO = 60_000 * CREDITS;
export const BUSINESS = 500_000 * CREDITS;
export const PRO_TRIAL = 5_000 * CREDITS;

export type BillingWorld = AsyncDisposable & {
  db: TestDatabase;
  services: Services;
  clock: ManualClock;
  acme: TestTenant;
  rival: TestTenant;
  call: ReturnType<typeof createCall<typeof billingOperations>>;
  /** Calls as the owner of acme. */
  ask<T>(name: Parameters<BillingWorld['call']>[1], input?: unknown): Promise<T>;
  status(): Promise<Status>;
  balances(): Promise<Pick<Balances, 'trial' | 'included' | 'payg'>>;
  payments(): Promise<{ kind: string; status: string; amount: number; credits: number }[]>;
};

/** Creates two tenants, billing's operations with the manual provider, and a separate clock. */
export async function createBillingWorld(start: number, overrides: Partial<Services> = {}): Promise<BillingWorld> {
  const db = await createTestDatabase();
  const clock = new ManualClock(start);
  const services = createTestServices(db, { clock, ...overrides });
  const acme = await createTestTenant(services, { slug: 'acme' });
  const call = createCall(services, billingOperations);
  return {
    db,
    services,
    clock,
    acme,
    rival: await createTestTenant(services, { slug: 'rival' }),
    call,
    ask: <T>(name: Parameters<typeof call>[1], input: unknown = {}) => call(acme.owner, name, input) as Promise<T>,
    status: () => call(acme.owner, 'billing_status') as Promise<Status>,
    async balances() {
      const { trial, included, payg } = await readBalances(db.pool, 'acme');
      return { trial, included, payg };
    },
    async payments() {
      const { rows } = await db.pool.query(
        'SELECT kind, status, amount::int, credits::float8 FROM payments ORDER BY created_at, id',
      );
      return rows;
    },
    async [Symbol.asyncDispose]() {
      await services.egress.close();
      await db.close();
    },
  };
}

/** Confirms every pending payment of acme, like an operator, oldest first. */
export async function confirmPayments({ db, services }: Pick<BillingWorld, 'db' | 'services'>): Promise<void> {
  const { rows } = await db.pool.query<{ id: string }>(
    `SELECT id FROM payments WHERE tenant_id = 'acme' AND status = 'pending' ORDER BY created_at, id`,
  );
  for (const { id } of rows) await confirmPayment(services, id);
}

/** Sets the clock to that instant, which must not be before now. */
export function goTo(clock: ManualClock, at: number | string): void {
  const to = typeof at === 'string' ? Date.parse(at) : at;
  expect(to).toBeGreaterThanOrEqual(clock.now());
  clock.advance(to - clock.now());
}
