-- Where people find a workflow: a path such as `Finance/Invoices` (empty: at the top), and tags. Neither is a part of the draft, so they do not change its revision.
ALTER TABLE "workflows" ADD COLUMN "folder" TEXT NOT NULL DEFAULT '';
ALTER TABLE "workflows" ADD COLUMN "tags" TEXT[] DEFAULT ARRAY[]::TEXT[];
CREATE INDEX "workflows_tenant_id_project_id_folder_idx" ON "workflows"("tenant_id", "project_id", "folder");
CREATE INDEX "workflows_tags_idx" ON "workflows" USING GIN ("tags");
