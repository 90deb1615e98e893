-- Who changed what, through which surface, and with what outcome: one row for each operation that may change something.
CREATE TABLE "audit_entries" (
    "tenant_id" TEXT NOT NULL,
    "id" UUID NOT NULL,
    "at" TIMESTAMPTZ(3) NOT NULL,
    "project_id" UUID,
    "user_id" UUID NOT NULL,
    "pat_id" UUID,
    "surface" TEXT NOT NULL,
    "operation" TEXT NOT NULL,
    "action" TEXT,
    "target" JSON NOT NULL,
    "outcome" TEXT NOT NULL,
    "request_id" TEXT NOT NULL,
    "client_address" TEXT,

    CONSTRAINT "audit_entries_pkey" PRIMARY KEY ("tenant_id", "id")
);
CREATE INDEX "audit_entries_tenant_id_user_id_id_idx" ON "audit_entries"("tenant_id", "user_id", "id");
-- Retention deletes by time.
CREATE INDEX "audit_entries_at_idx" ON "audit_entries" USING BRIN ("at");
