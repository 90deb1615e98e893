-- Values of runs that their workflow declares searchable. Apart from `runs`, so that a run without any costs nothing more.
CREATE TABLE "run_search_values" (
    "run_id" UUID NOT NULL,
    "name" TEXT NOT NULL,
    "value" TEXT NOT NULL,
    "project_id" UUID NOT NULL,
    "started_at" TIMESTAMPTZ(3) NOT NULL,

    CONSTRAINT "run_search_values_pkey" PRIMARY KEY ("run_id", "name")
);
-- A value is found by its beginning; the runs of one value and name come in the order of lists.
CREATE INDEX "run_search_values_value" ON "run_search_values"("project_id", "value" text_pattern_ops, "name", "started_at", "run_id");
