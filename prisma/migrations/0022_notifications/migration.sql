-- Notifications of people: what each of them chose, and a row for each delivery.

-- The order in which tasks were asked. Rows from before get 0 without a rewrite of the table, and nobody is notified of them.
CREATE SEQUENCE "human_tasks_seq_seq" AS BIGINT;
ALTER TABLE "human_tasks" ADD COLUMN "seq" BIGINT NOT NULL DEFAULT 0;
ALTER TABLE "human_tasks" ALTER COLUMN "seq" SET DEFAULT nextval('human_tasks_seq_seq');
ALTER SEQUENCE "human_tasks_seq_seq" OWNED BY "human_tasks"."seq";
-- Only tasks that still wait are worth a notification.
CREATE INDEX "human_tasks_asked" ON "human_tasks"("seq") WHERE "state" = 'pending';

CREATE TABLE "notification_preferences" (
    "tenant_id" TEXT NOT NULL,
    "user_id" UUID NOT NULL,
    "browser" TEXT[],
    "email" TEXT[],
    "webhook" TEXT[],
    "webhook_origin" TEXT,
    "updated_at" TIMESTAMPTZ(3) NOT NULL,

    CONSTRAINT "notification_preferences_pkey" PRIMARY KEY ("tenant_id", "user_id"),
    CONSTRAINT "notification_preferences_tenant_id_user_id_fkey" FOREIGN KEY ("tenant_id", "user_id") REFERENCES "memberships"("tenant_id", "user_id") ON DELETE CASCADE ON UPDATE CASCADE
);

CREATE TABLE "notification_deliveries" (
    "tenant_id" TEXT NOT NULL,
    "user_id" UUID NOT NULL,
    "run_id" UUID NOT NULL,
    "step_id" TEXT NOT NULL,
    "channel" TEXT NOT NULL,
    "kind" TEXT NOT NULL,
    "project_id" UUID NOT NULL,
    "workflow_id" UUID NOT NULL,
    "state" TEXT NOT NULL,
    "attempts" INTEGER NOT NULL DEFAULT 0,
    "next_attempt_at" TIMESTAMPTZ(3) NOT NULL,
    "reason" TEXT,
    "created_at" TIMESTAMPTZ(3) NOT NULL,
    "ended_at" TIMESTAMPTZ(3),

    CONSTRAINT "notification_deliveries_pkey" PRIMARY KEY ("tenant_id", "user_id", "run_id", "step_id", "channel"),
    CONSTRAINT "notification_deliveries_tenant_id_user_id_fkey" FOREIGN KEY ("tenant_id", "user_id") REFERENCES "memberships"("tenant_id", "user_id") ON DELETE CASCADE ON UPDATE CASCADE
);
CREATE INDEX "notification_deliveries_tenant_id_user_id_created_at_idx" ON "notification_deliveries"("tenant_id", "user_id", "created_at" DESC);
-- Retention deletes by time.
CREATE INDEX "notification_deliveries_created_at_idx" ON "notification_deliveries" USING BRIN ("created_at");
-- What is due, and what goes with it in one message.
CREATE INDEX "notification_deliveries_due" ON "notification_deliveries"("next_attempt_at") WHERE "state" = 'pending';
CREATE INDEX "notification_deliveries_pending" ON "notification_deliveries"("tenant_id", "user_id", "channel", "created_at") WHERE "state" = 'pending';

CREATE TABLE "notification_progress" (
    "id" INTEGER NOT NULL,
    "task_seq" BIGINT NOT NULL,
    "usage_seq" BIGINT NOT NULL,

    CONSTRAINT "notification_progress_pkey" PRIMARY KEY ("id"),
    CONSTRAINT "notification_progress_one_row" CHECK ("id" = 1)
);
INSERT INTO "notification_progress" SELECT 1, 0, coalesce(max("seq"), 0) FROM "run_usage";
