-- How many of a run's ended steps did not run, so that lists show progress without them. Runs of before have none.
ALTER TABLE "runs" ADD COLUMN "steps_skipped" INTEGER NOT NULL DEFAULT 0;
