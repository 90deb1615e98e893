-- A bulk stop becomes a bulk action: `rerun` and `continue` start a run for each run that is found. Every request of before is a stop.
ALTER TABLE "run_stops" ADD COLUMN "action" TEXT NOT NULL DEFAULT 'stop';
ALTER TABLE "run_stops" ADD COLUMN "version" TEXT;
ALTER TABLE "run_stops" ADD COLUMN "requester" JSON;
ALTER TABLE "run_stops" ADD COLUMN "first_error" TEXT;
-- The id of the run that is started for a target: fixed when the target is found, so that a repeated start finds the id taken.
ALTER TABLE "run_stop_targets" ADD COLUMN "new_run_id" UUID;
