-- A conversation. Each answer in it is a run of `workflow_id`: the thread's agent, or the assistant of a model.
CREATE TABLE "chat_threads" (
    "id" UUID NOT NULL,
    "tenant_id" TEXT NOT NULL,
    "project_id" UUID NOT NULL,
    "owner_id" UUID NOT NULL,
    "workflow_id" UUID NOT NULL,
    "agent_id" UUID,
    "model" TEXT,
    "title" TEXT NOT NULL,
    "visibility" TEXT NOT NULL,
    "head_id" TEXT,
    "message_count" INTEGER NOT NULL,
    "archived_at" TIMESTAMPTZ(3),
    "deleted_at" TIMESTAMPTZ(3),
    "created_at" TIMESTAMPTZ(3) NOT NULL,
    "updated_at" TIMESTAMPTZ(3) NOT NULL,

    CONSTRAINT "chat_threads_pkey" PRIMARY KEY ("id"),
    CONSTRAINT "chat_threads_project_id_fkey" FOREIGN KEY ("project_id") REFERENCES "projects"("id") ON DELETE CASCADE ON UPDATE CASCADE
);
CREATE INDEX "chat_threads_tenant_id_project_id_updated_at_id_idx" ON "chat_threads"("tenant_id", "project_id", "updated_at" DESC, "id" DESC);

-- What a person said, and the answers to it. An answer's id is that of its run; it exists before the run does.
CREATE TABLE "chat_messages" (
    "thread_id" UUID NOT NULL,
    "id" TEXT NOT NULL,
    "tenant_id" TEXT NOT NULL,
    "place" INTEGER NOT NULL,
    "parent_id" TEXT,
    "role" TEXT NOT NULL,
    "status" TEXT NOT NULL,
    "parts" JSON NOT NULL,
    "error" JSON,
    "run_id" UUID,
    "request_id" TEXT,
    "request_hash" BYTEA,
    "sent_by" UUID NOT NULL,
    "pat_id" UUID,
    "created_at" TIMESTAMPTZ(3) NOT NULL,

    CONSTRAINT "chat_messages_pkey" PRIMARY KEY ("thread_id", "id"),
    CONSTRAINT "chat_messages_thread_id_fkey" FOREIGN KEY ("thread_id") REFERENCES "chat_threads"("id") ON DELETE CASCADE ON UPDATE CASCADE
);
CREATE UNIQUE INDEX "chat_messages_thread_id_place_key" ON "chat_messages"("thread_id", "place");
CREATE UNIQUE INDEX "chat_messages_thread_id_request_id_key" ON "chat_messages"("thread_id", "request_id");
CREATE UNIQUE INDEX "chat_messages_run_id_key" ON "chat_messages"("run_id");
-- What a person's answers of a day have cost.
CREATE INDEX "chat_messages_tenant_id_sent_by_created_at_idx" ON "chat_messages"("tenant_id", "sent_by", "created_at");
-- The answers that are to be started, or whose run may have ended: few, however many messages there are.
CREATE INDEX "chat_messages_open" ON "chat_messages"("thread_id", "place") WHERE "status" IN ('queued', 'running');

-- What a workspace has decided about its chats; a workspace without a row has no limits.
CREATE TABLE "chat_settings" (
    "tenant_id" TEXT NOT NULL,
    "daily_microcredits" BIGINT,
    "retention_days" INTEGER,
    "updated_by" UUID NOT NULL,
    "updated_at" TIMESTAMPTZ(3) NOT NULL,

    CONSTRAINT "chat_settings_pkey" PRIMARY KEY ("tenant_id")
);
