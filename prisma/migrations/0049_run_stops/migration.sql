-- A request to stop the runs that a filter matches, and how far it has got: the leader works on it in turns.
CREATE TABLE "run_stops" (
    "id" UUID NOT NULL,
    "tenant_id" TEXT NOT NULL,
    "filter" JSON NOT NULL,
    "mode" TEXT NOT NULL,
    "digest" TEXT NOT NULL,
    "requested_by" TEXT NOT NULL,
    "requested_at" TIMESTAMPTZ(3) NOT NULL,
    "matching_until" TIMESTAMPTZ(3) NOT NULL,
    "cursor_at" TIMESTAMPTZ(3),
    "cursor_id" UUID,
    "found_in_pass" BOOLEAN NOT NULL DEFAULT false,
    "quiet_since" TIMESTAMPTZ(3),
    "matched" INTEGER NOT NULL DEFAULT 0,
    "stopped" INTEGER NOT NULL DEFAULT 0,
    "already_ended" INTEGER NOT NULL DEFAULT 0,
    "failed" INTEGER NOT NULL DEFAULT 0,
    "finished_at" TIMESTAMPTZ(3),

    CONSTRAINT "run_stops_pkey" PRIMARY KEY ("id")
);
CREATE INDEX "run_stops_tenant_id_requested_at_id_idx" ON "run_stops"("tenant_id", "requested_at", "id");
-- The same request twice is one: while it is under way, a second one finds it.
CREATE UNIQUE INDEX "run_stops_open" ON "run_stops"("tenant_id", "digest") WHERE "finished_at" IS NULL;

-- The runs that an unfinished request has found.
CREATE TABLE "run_stop_targets" (
    "stop_id" UUID NOT NULL,
    "run_id" UUID NOT NULL,
    "state" TEXT NOT NULL,
    "attempts" INTEGER NOT NULL DEFAULT 0,

    CONSTRAINT "run_stop_targets_pkey" PRIMARY KEY ("stop_id", "run_id"),
    CONSTRAINT "run_stop_targets_stop_id_fkey" FOREIGN KEY ("stop_id") REFERENCES "run_stops"("id") ON DELETE CASCADE ON UPDATE CASCADE
);
CREATE INDEX "run_stop_targets_waiting" ON "run_stop_targets"("stop_id", "attempts", "run_id") WHERE "state" = 'waiting';

-- Who stops a run stops what it has called, also what it does not wait for.
CREATE INDEX "child_runs_parent_run_id_idx" ON "child_runs"("parent_run_id");
