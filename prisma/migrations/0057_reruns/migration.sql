-- The run that a rerun repeats or continues. Reruns of before have none: their logs do not say it.
ALTER TABLE "runs" ADD COLUMN "rerun_of" UUID;
CREATE INDEX "runs_rerun_of" ON "runs"("rerun_of") WHERE "rerun_of" IS NOT NULL;
