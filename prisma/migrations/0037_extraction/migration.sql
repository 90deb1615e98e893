-- A part of an episode from which a run extracts items: what it has brought, once, however often the step is repeated.
CREATE TABLE "memory_extractions" (
    "tenant_id" TEXT NOT NULL,
    "run_id" UUID NOT NULL,
    "part" INTEGER NOT NULL,
    "project_id" UUID NOT NULL,
    "workflow_id" UUID NOT NULL,
    "episode_id" UUID NOT NULL,
    "from_position" INTEGER NOT NULL,
    "state" TEXT NOT NULL DEFAULT 'waiting',
    "proposed" INTEGER NOT NULL DEFAULT 0,
    "merged" INTEGER NOT NULL DEFAULT 0,
    "superseded" INTEGER NOT NULL DEFAULT 0,
    "dropped" INTEGER NOT NULL DEFAULT 0,
    "error_code" TEXT,
    "error_message" TEXT,
    "created_at" TIMESTAMPTZ(3) NOT NULL,

    CONSTRAINT "memory_extractions_pkey" PRIMARY KEY ("tenant_id", "run_id", "part"),
    CONSTRAINT "memory_extractions_project_id_fkey" FOREIGN KEY ("project_id") REFERENCES "projects"("id") ON DELETE CASCADE ON UPDATE CASCADE
);
CREATE INDEX "memory_extractions_project_id_idx" ON "memory_extractions"("project_id");
CREATE INDEX "memory_extractions_created_at_idx" ON "memory_extractions" USING BRIN ("created_at");
