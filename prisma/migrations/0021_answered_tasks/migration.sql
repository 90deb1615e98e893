-- The history of the inbox, the latest answer first.
CREATE INDEX "human_tasks_answered" ON "human_tasks"("tenant_id", "completed_at" DESC, "run_id" DESC, "step_id" DESC) WHERE "state" = 'completed';
