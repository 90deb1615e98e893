-- The embedding model of a workspace. `space` names it together with its dimension.
CREATE TABLE "memory_settings" (
    "tenant_id" TEXT NOT NULL,
    "embedding_model" TEXT NOT NULL,
    "dimensions" INTEGER NOT NULL,
    "space" TEXT NOT NULL,
    "ready_at" TIMESTAMPTZ(3),
    "updated_by" UUID NOT NULL,
    "updated_at" TIMESTAMPTZ(3) NOT NULL,

    CONSTRAINT "memory_settings_pkey" PRIMARY KEY ("tenant_id")
);
-- Texts that wait for an embedding. `version` counts how often: a text that changed while it was embedded waits again.
CREATE TABLE "memory_pending" (
    "tenant_id" TEXT NOT NULL,
    "target_id" UUID NOT NULL,
    "is_item" BOOLEAN NOT NULL,
    "version" INTEGER NOT NULL DEFAULT 1,

    CONSTRAINT "memory_pending_pkey" PRIMARY KEY ("tenant_id", "target_id")
);
-- So that a search of one workflow or agent reads the bits of these alone.
ALTER TABLE "memory_bits" ADD COLUMN "workflow_id" UUID, ADD COLUMN "agent_id" UUID;
