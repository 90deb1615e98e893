-- What analytics answer from: sums of run_usage by the quarter of an hour, hour, day and month (UTC), so that whatever is
-- asked, in whatever time zone, is a few hundred rows found by one key. A row holds every number of its time side by side:
-- as one row for each number, a year of days in a zone that is not UTC was eleven times as many to read.
--
-- workflow_id 00000000-0000-0000-0000-000000000000 is the whole project. grain: 0 quarter of an hour, 1 hour, 2 day, 3 month.
-- The rows of the time that runs are updated in place at every fold; the free space keeps those updates off the indexes.
CREATE TABLE "analytics_totals" (
    "tenant_id" TEXT NOT NULL,
    "project_id" UUID NOT NULL,
    "workflow_id" UUID NOT NULL,
    "grain" SMALLINT NOT NULL,
    "bucket" TIMESTAMPTZ(3) NOT NULL,
    "runs_started" BIGINT NOT NULL,
    "runs_completed" BIGINT NOT NULL,
    "runs_failed" BIGINT NOT NULL,
    "runs_stopped" BIGINT NOT NULL,
    "steps_completed" BIGINT NOT NULL,
    "steps_failed" BIGINT NOT NULL,
    "steps_retried" BIGINT NOT NULL,
    "tool_calls" BIGINT NOT NULL,
    "llm_input_tokens" BIGINT NOT NULL,
    "llm_output_tokens" BIGINT NOT NULL,
    "step_microcredits" BIGINT NOT NULL,
    "tool_call_microcredits" BIGINT NOT NULL,
    "llm_input_microcredits" BIGINT NOT NULL,
    "llm_output_microcredits" BIGINT NOT NULL,

    CONSTRAINT "analytics_totals_pkey" PRIMARY KEY ("project_id", "workflow_id", "grain", "bucket")
) WITH (fillfactor = 80);

CREATE TABLE "analytics_triggers" (
    "tenant_id" TEXT NOT NULL,
    "project_id" UUID NOT NULL,
    "workflow_id" UUID NOT NULL,
    "grain" SMALLINT NOT NULL,
    "bucket" TIMESTAMPTZ(3) NOT NULL,
    "trigger_type" TEXT NOT NULL,
    "runs_started" BIGINT NOT NULL,

    CONSTRAINT "analytics_triggers_pkey" PRIMARY KEY ("project_id", "workflow_id", "grain", "bucket", "trigger_type")
) WITH (fillfactor = 80);

CREATE TABLE "analytics_steps" (
    "tenant_id" TEXT NOT NULL,
    "project_id" UUID NOT NULL,
    "workflow_id" UUID NOT NULL,
    "grain" SMALLINT NOT NULL,
    "bucket" TIMESTAMPTZ(3) NOT NULL,
    "step_type" TEXT NOT NULL,
    "completed" BIGINT NOT NULL,
    "failed" BIGINT NOT NULL,
    "retried" BIGINT NOT NULL,
    "microcredits" BIGINT NOT NULL,

    CONSTRAINT "analytics_steps_pkey" PRIMARY KEY ("project_id", "workflow_id", "grain", "bucket", "step_type")
) WITH (fillfactor = 80);

-- How long runs took. "bins" is the distribution, packed (server/domains/analytics/histogram.ts): as a row for each bin it
-- was as many rows as runs.
CREATE TABLE "analytics_durations" (
    "tenant_id" TEXT NOT NULL,
    "project_id" UUID NOT NULL,
    "workflow_id" UUID NOT NULL,
    "grain" SMALLINT NOT NULL,
    "bucket" TIMESTAMPTZ(3) NOT NULL,
    "outcome" TEXT NOT NULL,
    "runs" BIGINT NOT NULL,
    "total_ms" BIGINT NOT NULL,
    "min_ms" BIGINT NOT NULL,
    "max_ms" BIGINT NOT NULL,
    "bins" BYTEA NOT NULL,

    CONSTRAINT "analytics_durations_pkey" PRIMARY KEY ("project_id", "workflow_id", "grain", "bucket", "outcome")
) WITH (fillfactor = 80);

-- One row: how far run_usage is folded into the sums, and from when on what they were made of is still there.
CREATE TABLE "analytics_progress" (
    "id" INTEGER NOT NULL,
    "seq" BIGINT NOT NULL,
    "as_of" TIMESTAMPTZ(3) NOT NULL,
    "ready_seq" BIGINT,
    "usage_from" TIMESTAMPTZ(3),
    "runs_from" TIMESTAMPTZ(3),

    CONSTRAINT "analytics_progress_pkey" PRIMARY KEY ("id"),
    CONSTRAINT "analytics_progress_one_row" CHECK ("id" = 1)
);
-- Runs of before are counted by the first start (ready_seq null until then). Where there are none, only usage is to be folded.
INSERT INTO "analytics_progress" ("id", "seq", "as_of", "ready_seq")
SELECT 1, 0, to_timestamp(0),
       CASE WHEN EXISTS (SELECT FROM "runs") THEN NULL ELSE (SELECT coalesce(max("seq"), 0) FROM "run_usage") END;
