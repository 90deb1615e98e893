-- Changes of a workflow that were worked out beside its draft: they are looked at, tried, applied and undone as a whole.
CREATE TABLE "autopilot_proposals" (
    "id" UUID NOT NULL,
    "tenant_id" TEXT NOT NULL,
    "project_id" UUID NOT NULL,
    "workflow_id" UUID,
    "title" TEXT NOT NULL,
    "status" TEXT NOT NULL,
    "revision" INTEGER NOT NULL,
    "base_revision" INTEGER,
    "base" JSON NOT NULL,
    "draft" JSON NOT NULL,
    "ops" JSON NOT NULL,
    "rounds" INTEGER NOT NULL,
    "validation" JSON NOT NULL,
    "checks" JSON NOT NULL,
    "trial" JSON,
    "trial_workflow_id" UUID,
    "before" JSON,
    "after" JSON,
    "applied_revision" INTEGER,
    "applied_by" UUID,
    "applied_at" TIMESTAMPTZ(3),
    "thread_id" UUID,
    "message_id" UUID,
    "created_by" UUID NOT NULL,
    "created_at" TIMESTAMPTZ(3) NOT NULL,
    "updated_at" TIMESTAMPTZ(3) NOT NULL,

    CONSTRAINT "autopilot_proposals_pkey" PRIMARY KEY ("id"),
    CONSTRAINT "autopilot_proposals_project_id_fkey" FOREIGN KEY ("project_id") REFERENCES "projects"("id") ON DELETE CASCADE ON UPDATE CASCADE
);
CREATE INDEX "autopilot_proposals_project_id_created_at_id_idx" ON "autopilot_proposals"("project_id", "created_at" DESC, "id" DESC);
CREATE INDEX "autopilot_proposals_workflow_id_created_at_id_idx" ON "autopilot_proposals"("workflow_id", "created_at" DESC, "id" DESC);
