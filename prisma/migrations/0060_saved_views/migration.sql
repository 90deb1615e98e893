-- Filters and columns of the list of runs that a person has named, and may share with the project.
CREATE TABLE "run_views" (
    "id" UUID NOT NULL,
    "tenant_id" TEXT NOT NULL,
    "project_id" UUID NOT NULL,
    "owner_id" UUID NOT NULL,
    "name" TEXT NOT NULL,
    "shared" BOOLEAN NOT NULL,
    "filters" JSON NOT NULL,
    "columns" TEXT[] DEFAULT ARRAY[]::TEXT[],
    "created_at" TIMESTAMPTZ(3) NOT NULL,
    "updated_at" TIMESTAMPTZ(3) NOT NULL,
    CONSTRAINT "run_views_pkey" PRIMARY KEY ("id")
);
CREATE INDEX "run_views_tenant_id_project_id_owner_id_idx" ON "run_views"("tenant_id", "project_id", "owner_id");
ALTER TABLE "run_views" ADD CONSTRAINT "run_views_project_id_fkey" FOREIGN KEY ("project_id") REFERENCES "projects"("id") ON DELETE CASCADE ON UPDATE CASCADE;
ALTER TABLE "run_views" ADD CONSTRAINT "run_views_tenant_id_owner_id_fkey" FOREIGN KEY ("tenant_id", "owner_id") REFERENCES "memberships"("tenant_id", "user_id") ON DELETE CASCADE ON UPDATE CASCADE;

-- The view with which the list of a project opens for a person.
CREATE TABLE "run_view_defaults" (
    "tenant_id" TEXT NOT NULL,
    "project_id" UUID NOT NULL,
    "user_id" UUID NOT NULL,
    "view_id" UUID NOT NULL,
    CONSTRAINT "run_view_defaults_pkey" PRIMARY KEY ("project_id", "user_id")
);
CREATE INDEX "run_view_defaults_view_id_idx" ON "run_view_defaults"("view_id");
ALTER TABLE "run_view_defaults" ADD CONSTRAINT "run_view_defaults_view_id_fkey" FOREIGN KEY ("view_id") REFERENCES "run_views"("id") ON DELETE CASCADE ON UPDATE CASCADE;
ALTER TABLE "run_view_defaults" ADD CONSTRAINT "run_view_defaults_tenant_id_user_id_fkey" FOREIGN KEY ("tenant_id", "user_id") REFERENCES "memberships"("tenant_id", "user_id") ON DELETE CASCADE ON UPDATE CASCADE;

-- The saves of a draft, so that those of one editing session are found together.
CREATE INDEX "audit_entries_saves" ON "audit_entries"("tenant_id", "user_id", ("target" ->> 'id'), "id") WHERE "operation" IN ('workflows_patch', 'workflows_edit') AND "outcome" = 'ok';
