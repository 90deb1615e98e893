-- Who created a workspace: the limit of workspaces per user counts them, and operators can see it.
ALTER TABLE "tenants" ADD COLUMN "created_by" UUID;
CREATE INDEX "tenants_created_by_idx" ON "tenants"("created_by");
