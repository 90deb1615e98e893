-- The versions that declare a tool: a list of tools must not read the graph of every workflow.
CREATE INDEX "workflow_versions_tools" ON "workflow_versions"("tenant_id", "workflow_id", "version") WHERE ("graph_snapshot" -> 'tool') IS NOT NULL;

-- The approvals that a workspace has decided on for its agents' tools: auto, ask or deny; null: none.
CREATE TABLE "agent_settings" (
    "tenant_id" TEXT NOT NULL,
    "read_approval" TEXT,
    "write_approval" TEXT,
    "risky_approval" TEXT,
    "updated_by" UUID NOT NULL,
    "updated_at" TIMESTAMPTZ(3) NOT NULL,

    CONSTRAINT "agent_settings_pkey" PRIMARY KEY ("tenant_id")
);
