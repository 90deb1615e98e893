-- Logs, payloads and usage lie in one partition for each month, so that what is past its retention is dropped as a file
-- instead of being deleted row by row (docs/adr/0006). The server makes the months, by its own clock, before they are
-- needed (server/platform/postgres/partitions.ts); what belongs to none of them goes to the DEFAULT partition.
--
-- run_events and run_payloads are cut by run_id: run ids are UUIDv7, so a month is a range of them. The fence stays the
-- same key, a run's whole log lies in one partition, and a read of a run looks into that one alone.
ALTER TABLE "run_events" RENAME TO "run_events_old";
ALTER TABLE "run_events_old" RENAME CONSTRAINT "run_events_pkey" TO "run_events_old_pkey";

CREATE TABLE "run_events" (
    "run_id" UUID NOT NULL,
    "seq" INTEGER NOT NULL,
    "event_type" TEXT NOT NULL,
    "step_id" TEXT,
    "attempt" INTEGER,
    "data" JSON NOT NULL,
    "created_at" TIMESTAMPTZ(3) NOT NULL,

    CONSTRAINT "run_events_pkey" PRIMARY KEY ("run_id","seq")
) PARTITION BY RANGE ("run_id");
CREATE TABLE "run_events_default" PARTITION OF "run_events" DEFAULT;

-- A partitioned key must hold the column that it is cut by. It begins with it, so it also answers what the index on run_id did.
DROP INDEX "run_payloads_run_id_idx";
ALTER TABLE "run_payloads" RENAME TO "run_payloads_old";
ALTER TABLE "run_payloads_old" DROP CONSTRAINT "run_payloads_pkey";
ALTER TABLE "run_payloads_old" ADD CONSTRAINT "run_payloads_old_pkey" PRIMARY KEY ("run_id", "id");

CREATE TABLE "run_payloads" (
    "id" UUID NOT NULL,
    "run_id" UUID NOT NULL,
    "body" JSON NOT NULL,
    "created_at" TIMESTAMPTZ(3) NOT NULL,

    CONSTRAINT "run_payloads_pkey" PRIMARY KEY ("run_id","id")
) PARTITION BY RANGE ("run_id");
CREATE TABLE "run_payloads_default" PARTITION OF "run_payloads" DEFAULT;

-- What there is already becomes one partition for all time before the month after its newest event, without being copied.
-- Only runs whose ids are not of that time (given by clients) are moved, to DEFAULT. An empty database gets none of this.
DO $$
DECLARE
  newest timestamptz := (SELECT max("created_at") FROM "run_events_old");
  month timestamp := date_trunc('month', newest AT TIME ZONE 'UTC') + interval '1 month';
  bound uuid := rpad(lpad(to_hex((extract(epoch FROM month) * 1000)::bigint), 12, '0'), 32, '0');
  name text;
BEGIN
  FOREACH name IN ARRAY ARRAY['run_events', 'run_payloads'] LOOP
    IF newest IS NULL THEN
      EXECUTE format('DROP TABLE %I', name || '_old');
      CONTINUE;
    END IF;
    EXECUTE format('WITH moved AS (DELETE FROM %I WHERE "run_id" >= %L RETURNING *) INSERT INTO %I SELECT * FROM moved',
                   name || '_old', bound, name);
    EXECUTE format('ALTER TABLE %I RENAME CONSTRAINT %I TO %I', name || '_old', name || '_old_pkey',
                   name || to_char(month, '"_before_"YYYY"_"MM"_pkey"'));
    EXECUTE format('ALTER TABLE %I RENAME TO %I', name || '_old', name || to_char(month, '"_before_"YYYY"_"MM'));
    EXECUTE format('ALTER TABLE %I ATTACH PARTITION %I FOR VALUES FROM (MINVALUE) TO (%L)', name,
                   name || to_char(month, '"_before_"YYYY"_"MM'), bound);
  END LOOP;
END $$;

-- What is to be paid for: one row for each commit, workflow and action, with a line [run_id, step_id, attempt, quantity] in
-- "attempts" for each billable attempt that ended in that commit. The key of the event that ends it makes it exactly one, so
-- the table needs none of its own. A row for each attempt took 8 us of the 40 that a step costs the writer; this takes 1.
CREATE TABLE "run_usage" (
    "id" UUID NOT NULL,
    "tenant_id" TEXT NOT NULL,
    "project_id" UUID NOT NULL,
    "workflow_id" UUID NOT NULL,
    "action" TEXT NOT NULL,
    "quantity" BIGINT NOT NULL,
    "microcredits" BIGINT NOT NULL DEFAULT 0,
    "attempts" JSON NOT NULL,
    "created_at" TIMESTAMPTZ(3) NOT NULL
) PARTITION BY RANGE ("created_at");
CREATE TABLE "run_usage_default" PARTITION OF "run_usage" DEFAULT;
