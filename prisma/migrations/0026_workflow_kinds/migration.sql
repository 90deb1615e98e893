-- What a workflow is: one that people edit, or one that another part of the service manages, such as an agent.
ALTER TABLE "workflows" ADD COLUMN "kind" TEXT NOT NULL DEFAULT 'workflow';

-- Managed workflows are few: lists of them, and lists of everything else, read them from here.
CREATE INDEX "workflows_managed" ON "workflows"("project_id", "kind", "created_at" DESC, "id" DESC) WHERE "kind" <> 'workflow';
