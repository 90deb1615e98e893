-- What was used, summed by the quarter of an hour and whatever it is asked by: a month of a busy workspace is some ten thousand of
-- these, and any number of rows of usage. Folded from run_usage together with the sums that analytics answer from.
--
-- digest: of everything that a sum is of but its workspace and quarter. Words can be longer than an index may hold.
CREATE TABLE "usage_sums" (
    "tenant_id" TEXT NOT NULL,
    "bucket" TIMESTAMPTZ(3) NOT NULL,
    "digest" UUID NOT NULL,
    "project_id" UUID NOT NULL,
    "workflow_id" UUID NOT NULL,
    "action" TEXT NOT NULL,
    "step_type" TEXT NOT NULL,
    "subject" TEXT NOT NULL,
    "started_by" TEXT NOT NULL,
    "quantity" BIGINT NOT NULL,
    "microcredits" BIGINT NOT NULL,

    CONSTRAINT "usage_sums_pkey" PRIMARY KEY ("tenant_id", "bucket", "digest")
) WITH (fillfactor = 80);
-- Retention looks for whole months, in the order in which they were written.
CREATE INDEX "usage_sums_bucket_idx" ON "usage_sums" USING BRIN ("bucket");

INSERT INTO "usage_sums"
SELECT "tenant_id", date_bin('15 minutes', "created_at", to_timestamp(0)),
       md5(concat_ws(E'\x1f', "project_id", "workflow_id", "action", "step_type", "subject", "started_by"))::uuid,
       "project_id", "workflow_id", "action", "step_type", "subject", "started_by", sum("quantity"), sum("microcredits")
FROM "run_usage" WHERE "action" NOT IN ('run_started', 'run_ended') AND "seq" <= (SELECT "seq" FROM "analytics_progress")
GROUP BY 1, 2, 3, 4, 5, 6, 7, 8, 9;
