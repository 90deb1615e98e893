-- Failed runs whose workflow names another one to start, until that one has started or was refused for good.
CREATE TABLE "failure_handlers" (
    "run_id" UUID NOT NULL,
    "tenant_id" TEXT NOT NULL,
    "project_id" UUID NOT NULL,
    "workflow_id" UUID NOT NULL,
    "attempts" INTEGER NOT NULL DEFAULT 0,
    "next_attempt_at" TIMESTAMPTZ(3) NOT NULL,

    CONSTRAINT "failure_handlers_pkey" PRIMARY KEY ("run_id")
);
CREATE INDEX "failure_handlers_next_attempt_at_idx" ON "failure_handlers"("next_attempt_at");

CREATE TABLE "failure_handler_progress" (
    "id" INTEGER NOT NULL,
    "usage_seq" BIGINT NOT NULL,

    CONSTRAINT "failure_handler_progress_pkey" PRIMARY KEY ("id"),
    CONSTRAINT "failure_handler_progress_one_row" CHECK ("id" = 1)
);
INSERT INTO "failure_handler_progress" SELECT 1, coalesce(max("seq"), 0) FROM "run_usage";
