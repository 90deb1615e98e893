-- An index that holds a column makes every update of that column write all indexes of the row anew. Of those that change
-- while a run lives, only the status stays in one: what recovery looks for is filtered among the runs that have not ended.
DROP INDEX "runs_active";
DROP INDEX "runs_next_timer";
CREATE INDEX "runs_active" ON "runs"("id" DESC) INCLUDE ("tenant_id") WHERE "ended_at" IS NULL;

-- Of a workflow's runs, those of one status. Completed ones are found on the way through all of them, and being left out
-- makes the end of a run cost this index nothing.
CREATE INDEX "runs_workflow_status" ON "runs"("workflow_id", "status", "started_at" DESC, "id" DESC) WHERE "status" <> 'completed';

-- What `q` looks for beside ids. A session that is the run's own id is found by the id. Prefixes need the pattern operators
-- in databases whose collation is not C.
CREATE INDEX "runs_session" ON "runs"("tenant_id", "project_id", "session_id" text_pattern_ops) WHERE "session_id" <> "id"::text;
CREATE INDEX "runs_trigger_type" ON "runs"("tenant_id", "project_id", "trigger_type" text_pattern_ops, "started_at" DESC);

-- A tenant's usage, newest first. There is a row for each commit, not for each attempt, so that the order is cheap to keep.
CREATE INDEX "run_usage_tenant_id_created_at_id_idx" ON "run_usage"("tenant_id", "created_at" DESC, "id" DESC);
