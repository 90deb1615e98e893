-- Who edits a draft: one row for each member who has had its editor open, or has saved it.
CREATE TABLE "workflow_editors" (
    "workflow_id" UUID NOT NULL,
    "user_id" UUID NOT NULL,
    "tenant_id" TEXT NOT NULL,
    "seen_at" TIMESTAMPTZ(3),
    "saved_at" TIMESTAMPTZ(3),
    "saved_revision" INTEGER,

    CONSTRAINT "workflow_editors_pkey" PRIMARY KEY ("workflow_id", "user_id"),
    CONSTRAINT "workflow_editors_workflow_id_fkey" FOREIGN KEY ("workflow_id") REFERENCES "workflows"("id") ON DELETE CASCADE ON UPDATE CASCADE,
    CONSTRAINT "workflow_editors_tenant_id_user_id_fkey" FOREIGN KEY ("tenant_id", "user_id") REFERENCES "memberships"("tenant_id", "user_id") ON DELETE CASCADE ON UPDATE CASCADE
);
CREATE INDEX "workflow_editors_tenant_id_user_id_idx" ON "workflow_editors"("tenant_id", "user_id");
