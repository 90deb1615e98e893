-- The step of the run that recalled: an agent, before its first turn, or a call of its memory tool.
ALTER TABLE "memory_recalls" ADD COLUMN "step_id" TEXT;
-- Finds what recalled an item, and what a run recalled.
CREATE INDEX "memory_recalls_target_ids_idx" ON "memory_recalls" USING GIN ("target_ids");
CREATE INDEX "memory_recalls_tenant_id_run_id_idx" ON "memory_recalls"("tenant_id", "run_id");
