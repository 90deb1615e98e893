import { toMicrocredits } from '../../../orchestrator/ports/microcredits.ts';
import { newId } from '../../../platform/ids.ts';
import { camelCased, type Stored } from '../../../platform/postgres/rows.ts';
import type { Queryable } from '../../../platform/postgres/transaction.ts';
import type { BillingCode } from './code.ts';
import { codeAlreadyUsed, codeNotValid } from './refusals.ts';

type Row = Stored<BillingCode, { value: string; startsAt: Date | null; endsAt: Date | null; createdAt: Date }>;
const columns = `c.product_code, c.code, c.kind, c.value, c.currency, c.plan_codes, c.credits_expire_days, c.months,
  c.max_redemptions, c.max_per_tenant, c.redeemed, c.starts_at, c.ends_at, c.provider_promotion_id, c.disabled, c.created_by,
  c.created_at`;

const toCode = (row: Row): BillingCode => ({
  ...row,
  value: toMicrocredits(row.value),
  startsAt: row.startsAt?.getTime() ?? null,
  endsAt: row.endsAt?.getTime() ?? null,
  createdAt: row.createdAt.getTime(),
});

/** The state of a code for a workspace. */
export type CodeState =
  | { kind: 'usable'; code: BillingCode; used: number }
  /** This workspace has used the code up; others may still use it. */
  | { kind: 'used' }
  /** `known`: the code exists here, valid or not. */
  | { kind: 'unusable'; known: boolean };

type Asked = { productCode: string; tenantId: string; code: string; at: number };

/** Returns the state of a normalized code for a workspace at `at`. Always runs one statement, so that the time taken reveals nothing. */
export async function findCode(db: Queryable, asked: Asked): Promise<CodeState> {
  const { rows } = await db.query(
    `SELECT ${columns}, (SELECT count(*)::int FROM billing_code_redemptions r
                         WHERE r.product_code = c.product_code AND r.code = c.code AND r.tenant_id = $3) AS used
     FROM (SELECT $1::text AS product_code, $2::text AS code) asked JOIN billing_codes c USING (product_code, code)`,
    [asked.productCode, asked.code, asked.tenantId],
  );
  const [row] = camelCased<Row & { used: number }>(rows);
  if (row === undefined) return { kind: 'unusable', known: false };
  const { used, ...found } = row;
  const code = toCode(found);
  if (used >= code.maxPerTenant) return { kind: 'used' };
  return isUsable(code, asked.at) ? { kind: 'usable', code, used } : { kind: 'unusable', known: true };
}

function isUsable(code: BillingCode, at: number): boolean {
  const begun = code.startsAt === null || code.startsAt <= at;
  const over = code.endsAt !== null && code.endsAt <= at;
  const usedUp = code.maxRedemptions !== null && code.redeemed >= code.maxRedemptions;
  return begun && !over && !usedUp && !code.disabled;
}

/** A redemption; `number` counts the workspace's redemptions of this code, from 1. */
export type Redemption = { id: string; code: BillingCode; number: number };

/**
 * Redeems a code inside the caller's transaction, which must be short. It locks the code's row, so concurrent
 * redemptions cannot exceed the limits. Throws AppError 422 `code_not_valid`, 409 `code_already_used`.
 */
export async function redeem(db: Queryable, asked: Asked & { userId: string }): Promise<Redemption> {
  const { productCode, tenantId, code, userId, at } = asked;
  const locked = await db.query('SELECT FROM billing_codes WHERE product_code = $1 AND code = $2 FOR NO KEY UPDATE', [
    productCode,
    code,
  ]);
  if (locked.rowCount === 0) throw codeNotValid();
  // A separate statement sees what the previous holder of the row lock has committed.
  const state = await findCode(db, asked);
  if (state.kind === 'used') throw codeAlreadyUsed();
  if (state.kind === 'unusable') throw codeNotValid();
  await db.query('UPDATE billing_codes SET redeemed = redeemed + 1 WHERE product_code = $1 AND code = $2', [
    productCode,
    code,
  ]);
  const id = newId();
  await db.query('INSERT INTO billing_code_redemptions VALUES ($1, $2, $3, $4, $5, $6)', [
    id,
    productCode,
    code,
    tenantId,
    userId,
    new Date(at),
  ]);
  return { id, code: state.code, number: state.used + 1 };
}

/** Reverses a redemption that had no effect. Returns false if it was already reversed. */
export async function release(db: Queryable, tenantId: string, redemptionId: string): Promise<boolean> {
  const { rows } = await db.query<{ product_code: string; code: string }>(
    'DELETE FROM billing_code_redemptions WHERE id = $1 AND tenant_id = $2 RETURNING product_code, code',
    [redemptionId, tenantId],
  );
  const [row] = rows;
  if (row === undefined) return false;
  await db.query('UPDATE billing_codes SET redeemed = redeemed - 1 WHERE product_code = $1 AND code = $2', [
    row.product_code,
    row.code,
  ]);
  return true;
}

/** Inserts a code. Returns false if the code exists already. */
export async function insertCode(db: Queryable, code: BillingCode): Promise<boolean> {
  const { rowCount } = await db.query(
    `INSERT INTO billing_codes (product_code, code, kind, value, currency, plan_codes, credits_expire_days, months, max_redemptions,
       max_per_tenant, redeemed, starts_at, ends_at, provider_promotion_id, disabled, created_by, created_at)
     VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11, $12, $13, $14, $15, $16, $17) ON CONFLICT DO NOTHING`,
    [
      code.productCode,
      code.code,
      code.kind,
      code.value,
      code.currency,
      code.planCodes,
      code.creditsExpireDays,
      code.months,
      code.maxRedemptions,
      code.maxPerTenant,
      code.redeemed,
      code.startsAt === null ? null : new Date(code.startsAt),
      code.endsAt === null ? null : new Date(code.endsAt),
      code.providerPromotionId,
      code.disabled,
      code.createdBy,
      new Date(code.createdAt),
    ],
  );
  return rowCount === 1;
}

/** Returns every code of a product, the newest first. */
export async function listCodes(db: Queryable, productCode: string): Promise<BillingCode[]> {
  const { rows } = await db.query(
    `SELECT ${columns} FROM billing_codes c WHERE c.product_code = $1 ORDER BY c.created_at DESC, c.code`,
    [productCode],
  );
  return camelCased<Row>(rows).map(toCode);
}

/** Disables a code; existing redemptions stay. Returns false if it does not exist. */
export async function disableCode(db: Queryable, productCode: string, code: string): Promise<boolean> {
  const { rowCount } = await db.query(
    'UPDATE billing_codes SET disabled = true WHERE product_code = $1 AND code = $2',
    [productCode, code],
  );
  return rowCount === 1;
}

/** Returns whether a product has the code, in any state. */
export async function isKnownCode(db: Queryable, productCode: string, code: string): Promise<boolean> {
  const { rowCount } = await db.query('SELECT FROM billing_codes WHERE product_code = $1 AND code = $2', [
    productCode,
    code,
  ]);
  return rowCount !== 0;
}

/** Returns the id of the workspace at a provider; null if it has none. */
export async function findCustomerId(db: Queryable, tenantId: string, provider: string): Promise<string | null> {
  const { rows } = await db.query<{ provider_customer_id: string | null }>(
    'SELECT provider_customer_id FROM subscriptions WHERE tenant_id = $1 AND provider = $2',
    [tenantId, provider],
  );
  return rows[0]?.provider_customer_id ?? null;
}
