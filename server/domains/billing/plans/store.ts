import type { PlanRow } from '../../../operation/plan.ts';
import { toMicrocredits } from '../../../orchestrator/ports/microcredits.ts';
import { newId } from '../../../platform/ids.ts';
import { camelCased, type Stored } from '../../../platform/postgres/rows.ts';
import type { Queryable } from '../../../platform/postgres/transaction.ts';
import { type Catalog, toPlanFields } from './catalog.ts';

/** A request's choice of a plan, by its code or its price. */
export type PlanChoice = { plan_code?: string | undefined; payment_price_id?: string | undefined };

type Row = Stored<PlanRow, { trialCredits: string; includedCredits: string }>;
const columns = `p.product_code, p.plan_code, p.payment_price_id, p.amount, p.currency, p.interval, p.interval_count,
  p.product_name, p.trial_enabled, p.trial_requires_card, p.trial_days, p.trial_credits, p.included_credits,
  p.onboarding_default, p.self_serve_onboarding, p.prices, p.position, p.retired`;

const toPlan = (row: Row): PlanRow => ({
  ...row,
  trialCredits: toMicrocredits(row.trialCredits),
  includedCredits: toMicrocredits(row.includedCredits),
});

async function select(db: Queryable, rest: string, values: unknown[]): Promise<PlanRow[]> {
  const { rows } = await db.query(`SELECT ${columns} FROM billing_plans p ${rest}`, values);
  return camelCased<Row>(rows).map(toPlan);
}

/** Returns every plan of a product, in the order of the catalog, including retired ones. */
export function listPlans(db: Queryable, productCode: string): Promise<PlanRow[]> {
  return select(db, 'WHERE p.product_code = $1 ORDER BY p.position, p.plan_code', [productCode]);
}

/** Returns the plan of a product by its code or its price, including retired ones; null if it does not exist. */
export async function findPlan(db: Queryable, productCode: string, choice: PlanChoice): Promise<PlanRow | null> {
  const found = await select(
    db,
    'WHERE p.product_code = $1 AND ($2::text IS NULL OR p.plan_code = $2) AND ($3::text IS NULL OR p.payment_price_id = $3) LIMIT 2',
    [productCode, choice.plan_code ?? null, choice.payment_price_id ?? null],
  );
  return found.length === 1 ? (found[0] ?? null) : null;
}

/** Returns the plan of workspaces of the product that have not chosen one. */
export async function findOnboardingPlan(db: Queryable, productCode: string): Promise<PlanRow | null> {
  const [plan] = await select(
    db,
    'WHERE p.product_code = $1 AND p.onboarding_default AND NOT p.retired ORDER BY p.position LIMIT 1',
    [productCode],
  );
  return plan ?? null;
}

/**
 * Inserts the plans of the catalog that do not exist yet: changes by an operator are never overwritten. Two concurrent
 * processes insert each plan once.
 */
export async function seedPlans(db: Queryable, { plans }: Pick<Catalog, 'plans'>, at: number): Promise<void> {
  for (const plan of plans) {
    if ((await insertPlan(db, plan, at)) > 0) await noteChange(db, null, plan, { by: 'catalogue', at });
  }
}

async function insertPlan(db: Queryable, plan: PlanRow, at: number): Promise<number> {
  const { rowCount } = await db.query(
    `INSERT INTO billing_plans VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11, $12, $13, $14, $15, $16, $17, $18, $19)
     ON CONFLICT DO NOTHING`,
    values(plan, at),
  );
  return rowCount ?? 0;
}

/** Writes a plan, replacing the previous one. */
export async function savePlan(db: Queryable, plan: PlanRow, at: number): Promise<void> {
  await db.query(
    `INSERT INTO billing_plans VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11, $12, $13, $14, $15, $16, $17, $18, $19)
     ON CONFLICT (product_code, plan_code) DO UPDATE SET payment_price_id = excluded.payment_price_id,
       amount = excluded.amount, currency = excluded.currency, interval = excluded.interval,
       interval_count = excluded.interval_count, product_name = excluded.product_name,
       trial_enabled = excluded.trial_enabled, trial_requires_card = excluded.trial_requires_card,
       trial_days = excluded.trial_days, trial_credits = excluded.trial_credits,
       included_credits = excluded.included_credits, onboarding_default = excluded.onboarding_default,
       self_serve_onboarding = excluded.self_serve_onboarding, prices = excluded.prices,
       position = excluded.position, retired = excluded.retired, updated_at = excluded.updated_at`,
    values(plan, at),
  );
}

/** One change of a plan; `before` null: the plan was created. Fields are named as in the catalog. */
export type PlanChangeRow = {
  plan_code: string;
  changed_by: string;
  before: Record<string, unknown> | null;
  after: Record<string, unknown>;
  created_at: Date;
};

/** Returns every change of a plan, oldest first. */
export async function listPlanChanges(db: Queryable, productCode: string, planCode: string): Promise<PlanChangeRow[]> {
  const { rows } = await db.query<PlanChangeRow>(
    `SELECT plan_code, changed_by, before, after, created_at FROM billing_plan_changes
     WHERE product_code = $1 AND plan_code = $2 ORDER BY id`,
    [productCode, planCode],
  );
  return rows;
}

/** Returns the values of a plan in the order of the table's columns. */
const values = (plan: PlanRow, at: number) => [
  plan.productCode,
  plan.planCode,
  plan.paymentPriceId,
  plan.amount,
  plan.currency,
  plan.interval,
  plan.intervalCount,
  plan.productName,
  plan.trialEnabled,
  plan.trialRequiresCard,
  plan.trialDays,
  plan.trialCredits,
  plan.includedCredits,
  plan.onboardingDefault,
  plan.selfServeOnboarding,
  plan.prices,
  plan.position,
  plan.retired,
  new Date(at),
];

/** Records a change of a plan; `before` null: the plan is new. */
export async function noteChange(
  db: Queryable,
  before: PlanRow | null,
  after: PlanRow,
  { by, at }: { by: string; at: number },
): Promise<void> {
  const toFields = (plan: PlanRow) => ({ ...toPlanFields(plan), retired: plan.retired });
  await db.query('INSERT INTO billing_plan_changes VALUES ($1, $2, $3, $4, $5, $6, $7)', [
    newId(),
    after.productCode,
    after.planCode,
    by,
    before === null ? null : toFields(before),
    toFields(after),
    new Date(at),
  ]);
}

/** Serializes the changes of operators, so that each sees the previous one. Readers are not blocked. */
export async function lockPlans(db: Queryable): Promise<void> {
  await db.query('LOCK TABLE billing_plans IN SHARE ROW EXCLUSIVE MODE');
}
