import type { Context } from '../../../contract/context.ts';
import type { AppliedDiscount } from '../../../contract/payment-provider.ts';
import { AppError } from '../../../platform/errors.ts';
import { newId } from '../../../platform/ids.ts';
import { type Queryable, transact } from '../../../platform/postgres/transaction.ts';
import { adopt } from '../subscriptions/adopt.ts';
import { changeSubscription, customerOf, type Held, providerOf, referenceOf } from '../subscriptions/change.ts';
import { presentPlan } from '../subscriptions/choose.ts';
import type { Applied } from './apply.ts';
import { storeDiscount } from './discount.ts';
import { noRunningTrial } from './refusals.ts';
import { release } from './store.ts';

/**
 * A code that was redeemed and has yet to be carried out at the payment provider. First the redemption, in a short transaction that
 * holds the code's row; then the provider, with a key of the redemption: of two at once none gets the last one twice, nobody waits for a
 * network while holding a code that others want, and what a crash or a lost answer leaves is finished by the same code again.
 */
export type Pending = { redemptionId: string; code: string } & (
  | { kind: 'trial_days'; days: number; trialEndsAt: number }
  | { kind: 'discount'; discount: AppliedDiscount }
);

/** Writes down, in the transaction that redeems, what is to be done. */
export async function notePending(db: Queryable, tenantId: string, pending: Pending, at: number): Promise<void> {
  await db.query(
    `INSERT INTO billing_events (tenant_id, id, kind, reference, data, created_at) VALUES ($1, $2, 'code_pending', $3, $4, $5)`,
    [tenantId, newId(), pending.redemptionId, pending, new Date(at)],
  );
}

/** What a code of this workspace has yet to do; null: nothing. */
export async function findPending(db: Queryable, tenantId: string, code: string): Promise<Pending | null> {
  const { rows } = await db.query<{ data: Pending }>(
    `SELECT data FROM billing_events WHERE tenant_id = $1 AND kind = 'code_pending' AND data->>'code' = $2 ORDER BY id LIMIT 1`,
    [tenantId, code],
  );
  return rows[0]?.data ?? null;
}

/** It is done, or given up. False: somebody else was quicker. */
async function settlePending(
  db: Queryable,
  { tenantId, pending, outcome }: { tenantId: string; pending: Pending; outcome: 'code_applied' | 'code_refused' },
): Promise<boolean> {
  const { rowCount } = await db.query(
    `UPDATE billing_events SET kind = $3 WHERE tenant_id = $1 AND kind = 'code_pending' AND reference = $2`,
    [tenantId, pending.redemptionId, outcome],
  );
  return rowCount === 1;
}

/**
 * Carries out what is pending. Where the provider refuses it, or there is nothing any more that it could change, the redemption is taken
 * back; where the provider is away (503) it stays pending.
 */
export async function resume(ctx: Context, pending: Pending): Promise<Applied> {
  const { services, principal } = ctx;
  const { tenantId } = principal;
  try {
    await changeSubscription(services, tenantId, async held => {
      const done = await settlePending(held.db, { tenantId, pending, outcome: 'code_applied' });
      if (done) await carryOut(ctx, held, pending);
    });
  } catch (error) {
    if (error instanceof AppError && error.status < 500) await giveUp(ctx, pending);
    throw error;
  }
  return summarize(pending);
}

async function carryOut(ctx: Context, held: Held, pending: Pending): Promise<void> {
  const { services } = ctx;
  const { db, row, at } = held;
  const provider = providerOf(services, row);
  const plan = await presentPlan(db, row);
  const reference = await referenceOf(held, await customerOf(ctx, held), plan);
  const key = `code:${pending.redemptionId}`;
  const adoption = { db, billing: services.config.billing, provider: provider.kind, at };
  switch (pending.kind) {
    case 'trial_days': {
      if (row.status !== 'trialing') throw noRunningTrial();
      const next = await provider.extendTrial(reference, { trialEndsAt: pending.trialEndsAt, key });
      await adopt(adoption, row, next);
      return;
    }
    case 'discount': {
      const next = await provider.applyDiscount(reference, { discount: pending.discount, key });
      await adopt(adoption, { ...row, discount: storeDiscount(pending.discount, at) }, next);
    }
  }
}

function giveUp({ services, principal }: Context, pending: Pending): Promise<void> {
  const { tenantId } = principal;
  return transact(services.pool, async db => {
    if (await settlePending(db, { tenantId, pending, outcome: 'code_refused' }))
      await release(db, tenantId, pending.redemptionId);
  });
}

function summarize(pending: Pending): Applied {
  switch (pending.kind) {
    case 'trial_days': {
      const days = `${pending.days} ${pending.days === 1 ? 'day' : 'days'}`;
      const until = new Date(pending.trialEndsAt).toISOString().slice(0, 10);
      return { kind: 'trial_days', message: `The trial is ${days} longer, until ${until}.`, credits_granted: 0 };
    }
    case 'discount':
      return {
        kind: pending.discount.kind,
        message: 'The discount is on your subscription, from its next invoice on.',
        credits_granted: 0,
      };
  }
}
