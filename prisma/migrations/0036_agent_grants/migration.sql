-- What a person has allowed for good: calls of a tool by an agent, or in a conversation, that are no longer asked for.
CREATE TABLE "agent_grants" (
    "id" UUID NOT NULL,
    "tenant_id" TEXT NOT NULL,
    "project_id" UUID NOT NULL,
    "agent_id" UUID,
    "thread_id" UUID,
    "instance_id" UUID NOT NULL,
    "tool" TEXT NOT NULL,
    "tool_digest" TEXT NOT NULL,
    "arguments" JSON,
    "granted_by" UUID NOT NULL,
    "created_at" TIMESTAMPTZ(3) NOT NULL,
    "expires_at" TIMESTAMPTZ(3),

    CONSTRAINT "agent_grants_pkey" PRIMARY KEY ("id"),
    CONSTRAINT "agent_grants_agent_id_fkey" FOREIGN KEY ("agent_id") REFERENCES "agents"("id") ON DELETE CASCADE ON UPDATE CASCADE,
    CONSTRAINT "agent_grants_thread_id_fkey" FOREIGN KEY ("thread_id") REFERENCES "chat_threads"("id") ON DELETE CASCADE ON UPDATE CASCADE,
    CONSTRAINT "agent_grants_about" CHECK (("agent_id" IS NULL) <> ("thread_id" IS NULL))
);
CREATE INDEX "agent_grants_agent_id_idx" ON "agent_grants"("agent_id");
CREATE INDEX "agent_grants_thread_id_idx" ON "agent_grants"("thread_id");
