-- Usage says more about what it counts, so that it can be listed and summed by step type, tool, model, person and outcome
-- without reading an event; and it counts what analytics need beside what is paid for: runs that began and ended.
-- `seq` is the order of the commits: the leader's session alone writes, so whoever has read up to a number has missed nothing.
ALTER TABLE "run_usage" ADD COLUMN "step_type" TEXT NOT NULL DEFAULT '',
  ADD COLUMN "subject" TEXT NOT NULL DEFAULT '',
  ADD COLUMN "outcome" TEXT NOT NULL DEFAULT '',
  ADD COLUMN "started_by" TEXT NOT NULL DEFAULT '',
  ADD COLUMN "seq" BIGSERIAL;
CREATE INDEX "run_usage_seq_idx" ON "run_usage"("seq");

-- What an account holds: never below nothing. The bound is half of what JSON holds exactly, so that two accounts together are
-- held, too. A domain and no CHECK of the table: PostgreSQL parses those anew for each statement that writes it, and the commit
-- of runs does (75 us of 370 for the two tables below); the constraint of a domain it parses once.
CREATE DOMAIN "microcredits" AS BIGINT CHECK (VALUE BETWEEN 0 AND 4500000000000000);

-- The balances of a workspace: one narrow row, updated in place by the commit that charges (hence the free space in its
-- pages). The sixth account, `granted`, is where credits come from: minus the five others, and so never written.
CREATE TABLE "credit_accounts" (
    "tenant_id" TEXT NOT NULL,
    "trial" "microcredits" NOT NULL DEFAULT 0,
    "included" "microcredits" NOT NULL DEFAULT 0,
    "payg" "microcredits" NOT NULL DEFAULT 0,
    "consumed" "microcredits" NOT NULL DEFAULT 0,
    "expired" "microcredits" NOT NULL DEFAULT 0,
    "allowance" BIGINT NOT NULL DEFAULT 0,
    "next_expiry_at" TIMESTAMPTZ(3),
    "when_exhausted" TEXT NOT NULL DEFAULT 'fail',
    "created_at" TIMESTAMPTZ(3) NOT NULL,

    CONSTRAINT "credit_accounts_pkey" PRIMARY KEY ("tenant_id")
) WITH (fillfactor = 20);
CREATE INDEX "credit_accounts_next_expiry_at_idx" ON "credit_accounts"("next_expiry_at");
CREATE VIEW "credit_balances" AS SELECT *, -("trial" + "included" + "payg" + "consumed" + "expired") AS "granted" FROM "credit_accounts";

-- Append-only double entry: a row is one transaction, a column what it adds to that account; what they add together is taken
-- from `granted`.
CREATE TABLE "credit_ledger" (
    "tenant_id" TEXT NOT NULL,
    "id" UUID NOT NULL,
    "kind" TEXT NOT NULL,
    "trial" BIGINT NOT NULL DEFAULT 0,
    "included" BIGINT NOT NULL DEFAULT 0,
    "payg" BIGINT NOT NULL DEFAULT 0,
    "consumed" BIGINT NOT NULL DEFAULT 0,
    "expired" BIGINT NOT NULL DEFAULT 0,
    "reference" TEXT,
    "note" TEXT NOT NULL DEFAULT '',
    "created_at" TIMESTAMPTZ(3) NOT NULL,

    CONSTRAINT "credit_ledger_pkey" PRIMARY KEY ("tenant_id", "id")
);
CREATE VIEW "credit_entries" AS SELECT *, -("trial" + "included" + "payg" + "consumed" + "expired") AS "granted" FROM "credit_ledger";
-- Whatever has a reference happens once, however often it is asked for. Charges have none and pay nothing for this.
CREATE UNIQUE INDEX "credit_ledger_reference" ON "credit_ledger"("tenant_id", "kind", "reference") WHERE "reference" IS NOT NULL;
CREATE FUNCTION "credit_ledger_is_append_only"() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
  RAISE EXCEPTION 'the credit ledger is append-only';
END $$;
CREATE TRIGGER "credit_ledger_append_only" BEFORE UPDATE OR DELETE OR TRUNCATE ON "credit_ledger"
  FOR EACH STATEMENT EXECUTE FUNCTION "credit_ledger_is_append_only"();

-- What was granted and when it expires. `remaining` is as of the last movement that was not a charge: charges take from the
-- grant that expires first, so what is left of each follows from the account's balance, and a charge writes no grant.
CREATE TABLE "credit_grants" (
    "tenant_id" TEXT NOT NULL,
    "id" UUID NOT NULL,
    "account" TEXT NOT NULL,
    "amount" BIGINT NOT NULL,
    "remaining" BIGINT NOT NULL,
    "source" TEXT NOT NULL,
    "reference" TEXT,
    "note" TEXT NOT NULL DEFAULT '',
    "expires_at" TIMESTAMPTZ(3),
    "created_at" TIMESTAMPTZ(3) NOT NULL,

    CONSTRAINT "credit_grants_pkey" PRIMARY KEY ("tenant_id", "id"),
    CONSTRAINT "credit_grants_account" CHECK ("account" IN ('trial', 'included', 'payg')),
    CONSTRAINT "credit_grants_remaining" CHECK ("remaining" >= 0 AND "remaining" <= "amount")
);

-- The catalogue, keyed as the specification says, and every change that was made to it.
CREATE TABLE "billing_plans" (
    "product_code" TEXT NOT NULL,
    "plan_code" TEXT NOT NULL,
    "payment_price_id" TEXT,
    "amount" INTEGER NOT NULL,
    "currency" TEXT NOT NULL,
    "interval" TEXT NOT NULL,
    "interval_count" INTEGER NOT NULL,
    "product_name" TEXT NOT NULL,
    "trial_enabled" BOOLEAN NOT NULL,
    "trial_requires_card" BOOLEAN NOT NULL,
    "trial_days" INTEGER NOT NULL,
    "trial_credits" BIGINT NOT NULL,
    "included_credits" BIGINT NOT NULL,
    "onboarding_default" BOOLEAN NOT NULL,
    "self_serve_onboarding" BOOLEAN NOT NULL,
    "prices" JSONB NOT NULL,
    "position" INTEGER NOT NULL,
    "retired" BOOLEAN NOT NULL DEFAULT false,
    "updated_at" TIMESTAMPTZ(3) NOT NULL,

    CONSTRAINT "billing_plans_pkey" PRIMARY KEY ("product_code", "plan_code"),
    CONSTRAINT "billing_plans_amounts" CHECK ("amount" >= 0 AND "trial_credits" >= 0 AND "included_credits" >= 0)
);
CREATE UNIQUE INDEX "billing_plans_price" ON "billing_plans"("product_code", "payment_price_id");

CREATE TABLE "billing_plan_changes" (
    "id" UUID NOT NULL,
    "product_code" TEXT NOT NULL,
    "plan_code" TEXT NOT NULL,
    "changed_by" TEXT NOT NULL,
    "before" JSONB,
    "after" JSONB NOT NULL,
    "created_at" TIMESTAMPTZ(3) NOT NULL,

    CONSTRAINT "billing_plan_changes_pkey" PRIMARY KEY ("id")
);
CREATE INDEX "billing_plan_changes_plan" ON "billing_plan_changes"("product_code", "plan_code", "id");

CREATE TABLE "subscriptions" (
    "tenant_id" TEXT NOT NULL,
    "product_code" TEXT NOT NULL,
    "plan_code" TEXT NOT NULL,
    "status" TEXT NOT NULL,
    "provider" TEXT NOT NULL,
    "provider_customer_id" TEXT,
    "provider_subscription_id" TEXT,
    "trial_plan_code" TEXT,
    "trial_started_at" TIMESTAMPTZ(3),
    "trial_ends_at" TIMESTAMPTZ(3),
    "current_period_start" TIMESTAMPTZ(3) NOT NULL,
    "current_period_end" TIMESTAMPTZ(3) NOT NULL,
    "cancel_at_period_end" BOOLEAN NOT NULL DEFAULT false,
    "pending_plan_code" TEXT,
    "discount" JSONB,
    "provider_version" BIGINT NOT NULL DEFAULT 0,
    "created_at" TIMESTAMPTZ(3) NOT NULL,
    "updated_at" TIMESTAMPTZ(3) NOT NULL,

    CONSTRAINT "subscriptions_pkey" PRIMARY KEY ("tenant_id"),
    CONSTRAINT "subscriptions_status" CHECK ("status" IN ('active', 'trialing', 'past_due', 'incomplete', 'cancelled'))
);
CREATE UNIQUE INDEX "subscriptions_provider_subscription" ON "subscriptions"("provider", "provider_subscription_id");
CREATE UNIQUE INDEX "subscriptions_provider_customer" ON "subscriptions"("provider", "provider_customer_id");
CREATE INDEX "subscriptions_current_period_end_idx" ON "subscriptions"("current_period_end");
CREATE INDEX "subscriptions_trial_ends_at_idx" ON "subscriptions"("trial_ends_at");

CREATE TABLE "payments" (
    "id" UUID NOT NULL,
    "tenant_id" TEXT NOT NULL,
    "kind" TEXT NOT NULL,
    "status" TEXT NOT NULL,
    "amount" BIGINT NOT NULL,
    "currency" TEXT NOT NULL,
    "credits" BIGINT NOT NULL DEFAULT 0,
    "refunded_amount" BIGINT NOT NULL DEFAULT 0,
    "description" TEXT NOT NULL,
    "provider" TEXT NOT NULL,
    "provider_payment_id" TEXT,
    "invoice_url" TEXT,
    "requested_by" TEXT,
    "created_at" TIMESTAMPTZ(3) NOT NULL,
    "settled_at" TIMESTAMPTZ(3),

    CONSTRAINT "payments_pkey" PRIMARY KEY ("id"),
    CONSTRAINT "payments_kind" CHECK ("kind" IN ('topup', 'subscription')),
    CONSTRAINT "payments_status" CHECK ("status" IN ('pending', 'succeeded', 'failed', 'cancelled', 'refunded'))
);
CREATE INDEX "payments_tenant" ON "payments"("tenant_id", "created_at", "id");
CREATE UNIQUE INDEX "payments_provider_payment" ON "payments"("provider", "provider_payment_id");

-- Each event of the payment provider is applied once, whatever the order and however often it comes.
CREATE TABLE "provider_events" (
    "provider" TEXT NOT NULL,
    "event_id" TEXT NOT NULL,
    "type" TEXT NOT NULL,
    "tenant_id" TEXT,
    "outcome" TEXT NOT NULL,
    "occurred_at" TIMESTAMPTZ(3) NOT NULL,
    "applied_at" TIMESTAMPTZ(3) NOT NULL,

    CONSTRAINT "provider_events_pkey" PRIMARY KEY ("provider", "event_id")
);

CREATE TABLE "billing_codes" (
    "product_code" TEXT NOT NULL,
    "code" TEXT NOT NULL,
    "kind" TEXT NOT NULL,
    "value" BIGINT NOT NULL,
    "currency" TEXT,
    "plan_codes" TEXT[] DEFAULT ARRAY[]::TEXT[],
    "credits_expire_days" INTEGER,
    "months" INTEGER,
    "max_redemptions" INTEGER,
    "max_per_tenant" INTEGER NOT NULL DEFAULT 1,
    "redeemed" INTEGER NOT NULL DEFAULT 0,
    "starts_at" TIMESTAMPTZ(3),
    "ends_at" TIMESTAMPTZ(3),
    "provider_promotion_id" TEXT,
    "disabled" BOOLEAN NOT NULL DEFAULT false,
    "created_by" TEXT NOT NULL,
    "created_at" TIMESTAMPTZ(3) NOT NULL,

    CONSTRAINT "billing_codes_pkey" PRIMARY KEY ("product_code", "code"),
    CONSTRAINT "billing_codes_kind" CHECK ("kind" IN ('credits', 'trial_days', 'percent', 'amount')),
    CONSTRAINT "billing_codes_value" CHECK ("value" > 0 AND ("kind" <> 'percent' OR "value" <= 100)),
    CONSTRAINT "billing_codes_limit" CHECK ("max_redemptions" IS NULL OR "redeemed" <= "max_redemptions")
);

CREATE TABLE "billing_code_redemptions" (
    "id" UUID NOT NULL,
    "product_code" TEXT NOT NULL,
    "code" TEXT NOT NULL,
    "tenant_id" TEXT NOT NULL,
    "redeemed_by" TEXT NOT NULL,
    "created_at" TIMESTAMPTZ(3) NOT NULL,

    CONSTRAINT "billing_code_redemptions_pkey" PRIMARY KEY ("id")
);
CREATE INDEX "billing_code_redemptions_code" ON "billing_code_redemptions"("product_code", "code", "tenant_id");

-- What happened to a workspace's account: warnings (80 %, 100 %), trials, plans, payments.
CREATE TABLE "billing_events" (
    "tenant_id" TEXT NOT NULL,
    "id" UUID NOT NULL,
    "kind" TEXT NOT NULL,
    "reference" TEXT,
    "data" JSONB NOT NULL,
    "created_at" TIMESTAMPTZ(3) NOT NULL,

    CONSTRAINT "billing_events_pkey" PRIMARY KEY ("tenant_id", "id")
);
CREATE UNIQUE INDEX "billing_events_reference" ON "billing_events"("tenant_id", "kind", "reference");
