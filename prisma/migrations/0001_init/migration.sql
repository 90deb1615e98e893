-- CreateSchema
CREATE SCHEMA IF NOT EXISTS "public";

-- CreateTable
CREATE TABLE "tenants" (
    "slug" TEXT NOT NULL,
    "name" TEXT NOT NULL,
    "created_at" TIMESTAMPTZ(3) NOT NULL,

    CONSTRAINT "tenants_pkey" PRIMARY KEY ("slug")
);

-- CreateTable
CREATE TABLE "projects" (
    "id" UUID NOT NULL,
    "tenant_id" TEXT NOT NULL,
    "name" TEXT NOT NULL,
    "created_at" TIMESTAMPTZ(3) NOT NULL,

    CONSTRAINT "projects_pkey" PRIMARY KEY ("id")
);

-- CreateTable
CREATE TABLE "users" (
    "id" UUID NOT NULL,
    "email" TEXT NOT NULL,
    "name" TEXT NOT NULL,
    "password_hash" TEXT NOT NULL,
    "session_epoch" INTEGER NOT NULL DEFAULT 0,
    "created_at" TIMESTAMPTZ(3) NOT NULL,

    CONSTRAINT "users_pkey" PRIMARY KEY ("id")
);

-- CreateTable
CREATE TABLE "memberships" (
    "tenant_id" TEXT NOT NULL,
    "user_id" UUID NOT NULL,
    "tenant_admin" BOOLEAN NOT NULL,
    "created_at" TIMESTAMPTZ(3) NOT NULL,

    CONSTRAINT "memberships_pkey" PRIMARY KEY ("tenant_id","user_id")
);

-- CreateTable
CREATE TABLE "project_members" (
    "project_id" UUID NOT NULL,
    "user_id" UUID NOT NULL,
    "tenant_id" TEXT NOT NULL,
    "role" TEXT NOT NULL,
    "created_at" TIMESTAMPTZ(3) NOT NULL,

    CONSTRAINT "project_members_pkey" PRIMARY KEY ("project_id","user_id")
);

-- CreateTable
CREATE TABLE "invitations" (
    "id" UUID NOT NULL,
    "tenant_id" TEXT NOT NULL,
    "project_id" UUID NOT NULL,
    "email" TEXT NOT NULL,
    "role" TEXT NOT NULL,
    "tenant_admin" BOOLEAN NOT NULL,
    "token_hash" BYTEA NOT NULL,
    "created_by" UUID NOT NULL,
    "created_at" TIMESTAMPTZ(3) NOT NULL,
    "expires_at" TIMESTAMPTZ(3) NOT NULL,
    "accepted_at" TIMESTAMPTZ(3),

    CONSTRAINT "invitations_pkey" PRIMARY KEY ("id")
);

-- CreateTable
CREATE TABLE "pats" (
    "id" UUID NOT NULL,
    "tenant_id" TEXT NOT NULL,
    "project_id" UUID NOT NULL,
    "user_id" UUID NOT NULL,
    "display_name" TEXT NOT NULL,
    "token_hash" BYTEA NOT NULL,
    "scopes" TEXT[],
    "created_at" TIMESTAMPTZ(3) NOT NULL,
    "expires_at" TIMESTAMPTZ(3),
    "last_used_at" TIMESTAMPTZ(3),
    "revoked_at" TIMESTAMPTZ(3),

    CONSTRAINT "pats_pkey" PRIMARY KEY ("id")
);

-- CreateTable
CREATE TABLE "tenant_keys" (
    "tenant_id" TEXT NOT NULL,
    "wrapped_key" BYTEA NOT NULL,
    "created_at" TIMESTAMPTZ(3) NOT NULL,

    CONSTRAINT "tenant_keys_pkey" PRIMARY KEY ("tenant_id")
);

-- CreateTable
CREATE TABLE "secrets" (
    "tenant_id" TEXT NOT NULL,
    "name" TEXT NOT NULL,
    "ciphertext" BYTEA NOT NULL,
    "created_at" TIMESTAMPTZ(3) NOT NULL,

    CONSTRAINT "secrets_pkey" PRIMARY KEY ("tenant_id","name")
);

-- CreateTable
CREATE TABLE "workflows" (
    "id" UUID NOT NULL,
    "tenant_id" TEXT NOT NULL,
    "project_id" UUID NOT NULL,
    "name" TEXT NOT NULL,
    "description" TEXT NOT NULL,
    "status" TEXT NOT NULL,
    "graph" JSONB NOT NULL,
    "run_setup" JSONB NOT NULL,
    "revision" INTEGER NOT NULL,
    "latest_version" INTEGER,
    "graph_checksum" TEXT NOT NULL,
    "created_by" UUID NOT NULL,
    "created_at" TIMESTAMPTZ(3) NOT NULL,
    "updated_at" TIMESTAMPTZ(3) NOT NULL,

    CONSTRAINT "workflows_pkey" PRIMARY KEY ("id")
);

-- CreateTable
CREATE TABLE "workflow_versions" (
    "workflow_id" UUID NOT NULL,
    "version" INTEGER NOT NULL,
    "tenant_id" TEXT NOT NULL,
    "graph_snapshot" JSONB NOT NULL,
    "run_setup" JSONB NOT NULL,
    "changelog" TEXT NOT NULL,
    "graph_checksum" TEXT NOT NULL,
    "published_by" UUID NOT NULL,
    "published_at" TIMESTAMPTZ(3) NOT NULL,

    CONSTRAINT "workflow_versions_pkey" PRIMARY KEY ("workflow_id","version")
);

-- CreateTable
CREATE TABLE "runs" (
    "id" UUID NOT NULL,
    "tenant_id" TEXT NOT NULL,
    "project_id" UUID NOT NULL,
    "workflow_id" UUID NOT NULL,
    "version" INTEGER NOT NULL,
    "status" TEXT NOT NULL,
    "orchestration_phase" TEXT NOT NULL,
    "session_id" TEXT NOT NULL,
    "trigger_type" TEXT NOT NULL,
    "started_by" TEXT NOT NULL,
    "started_at" TIMESTAMPTZ(3) NOT NULL,
    "ended_at" TIMESTAMPTZ(3),
    "error" JSONB,
    "steps_total" INTEGER NOT NULL,
    "steps_done" INTEGER NOT NULL,
    "pending_tasks" INTEGER NOT NULL,
    "credits_microcredits" BIGINT NOT NULL DEFAULT 0,
    "last_seq" INTEGER NOT NULL,
    "next_timer_at" TIMESTAMPTZ(3),

    CONSTRAINT "runs_pkey" PRIMARY KEY ("id")
);

-- CreateTable
CREATE TABLE "run_events" (
    "run_id" UUID NOT NULL,
    "seq" INTEGER NOT NULL,
    "event_type" TEXT NOT NULL,
    "step_id" TEXT,
    "attempt" INTEGER,
    "data" JSONB NOT NULL,
    "created_at" TIMESTAMPTZ(3) NOT NULL,

    CONSTRAINT "run_events_pkey" PRIMARY KEY ("run_id","seq")
);

-- CreateTable
CREATE TABLE "run_payloads" (
    "id" UUID NOT NULL,
    "run_id" UUID NOT NULL,
    "body" JSONB NOT NULL,
    "created_at" TIMESTAMPTZ(3) NOT NULL,

    CONSTRAINT "run_payloads_pkey" PRIMARY KEY ("id")
);

-- CreateTable
CREATE TABLE "run_rejections" (
    "run_id" UUID NOT NULL,
    "tenant_id" TEXT NOT NULL,
    "project_id" UUID NOT NULL,
    "workflow_id" UUID NOT NULL,
    "code" TEXT NOT NULL,
    "message" TEXT NOT NULL,
    "created_at" TIMESTAMPTZ(3) NOT NULL,

    CONSTRAINT "run_rejections_pkey" PRIMARY KEY ("run_id")
);

-- CreateTable
CREATE TABLE "human_tasks" (
    "run_id" UUID NOT NULL,
    "step_id" TEXT NOT NULL,
    "tenant_id" TEXT NOT NULL,
    "project_id" UUID NOT NULL,
    "workflow_id" UUID NOT NULL,
    "name" TEXT NOT NULL,
    "instructions" TEXT NOT NULL,
    "form" JSONB,
    "assignees" TEXT[],
    "state" TEXT NOT NULL,
    "approved" BOOLEAN,
    "completed_by" TEXT,
    "created_at" TIMESTAMPTZ(3) NOT NULL,
    "due_at" TIMESTAMPTZ(3),
    "completed_at" TIMESTAMPTZ(3),

    CONSTRAINT "human_tasks_pkey" PRIMARY KEY ("run_id","step_id")
);

-- CreateTable
CREATE TABLE "idempotency_keys" (
    "tenant_id" TEXT NOT NULL,
    "scope" TEXT NOT NULL,
    "key" TEXT NOT NULL,
    "request_hash" BYTEA NOT NULL,
    "response" JSONB,
    "created_at" TIMESTAMPTZ(3) NOT NULL,

    CONSTRAINT "idempotency_keys_pkey" PRIMARY KEY ("tenant_id","scope","key")
);

-- CreateIndex
CREATE UNIQUE INDEX "projects_tenant_id_name_key" ON "projects"("tenant_id", "name");

-- CreateIndex
CREATE UNIQUE INDEX "users_email_key" ON "users"("email");

-- CreateIndex
CREATE INDEX "memberships_user_id_idx" ON "memberships"("user_id");

-- CreateIndex
CREATE INDEX "project_members_tenant_id_user_id_idx" ON "project_members"("tenant_id", "user_id");

-- CreateIndex
CREATE UNIQUE INDEX "invitations_token_hash_key" ON "invitations"("token_hash");

-- CreateIndex
CREATE INDEX "invitations_tenant_id_created_at_idx" ON "invitations"("tenant_id", "created_at" DESC);

-- CreateIndex
CREATE UNIQUE INDEX "pats_token_hash_key" ON "pats"("token_hash");

-- CreateIndex
CREATE INDEX "pats_tenant_id_project_id_created_at_idx" ON "pats"("tenant_id", "project_id", "created_at" DESC);

-- CreateIndex
CREATE INDEX "workflows_tenant_id_project_id_created_at_id_idx" ON "workflows"("tenant_id", "project_id", "created_at" DESC, "id" DESC);

-- CreateIndex
CREATE INDEX "runs_tenant_id_project_id_started_at_id_idx" ON "runs"("tenant_id", "project_id", "started_at" DESC, "id" DESC);

-- CreateIndex
CREATE INDEX "runs_workflow_id_started_at_id_idx" ON "runs"("workflow_id", "started_at" DESC, "id" DESC);

-- CreateIndex
CREATE INDEX "run_payloads_run_id_idx" ON "run_payloads"("run_id");

-- CreateIndex
CREATE INDEX "run_rejections_workflow_id_created_at_idx" ON "run_rejections"("workflow_id", "created_at" DESC);

-- CreateIndex
CREATE INDEX "idempotency_keys_created_at_idx" ON "idempotency_keys"("created_at");

-- AddForeignKey
ALTER TABLE "projects" ADD CONSTRAINT "projects_tenant_id_fkey" FOREIGN KEY ("tenant_id") REFERENCES "tenants"("slug") ON DELETE RESTRICT ON UPDATE CASCADE;

-- AddForeignKey
ALTER TABLE "memberships" ADD CONSTRAINT "memberships_tenant_id_fkey" FOREIGN KEY ("tenant_id") REFERENCES "tenants"("slug") ON DELETE RESTRICT ON UPDATE CASCADE;

-- AddForeignKey
ALTER TABLE "memberships" ADD CONSTRAINT "memberships_user_id_fkey" FOREIGN KEY ("user_id") REFERENCES "users"("id") ON DELETE RESTRICT ON UPDATE CASCADE;

-- AddForeignKey
ALTER TABLE "project_members" ADD CONSTRAINT "project_members_project_id_fkey" FOREIGN KEY ("project_id") REFERENCES "projects"("id") ON DELETE CASCADE ON UPDATE CASCADE;

-- AddForeignKey
ALTER TABLE "project_members" ADD CONSTRAINT "project_members_user_id_fkey" FOREIGN KEY ("user_id") REFERENCES "users"("id") ON DELETE RESTRICT ON UPDATE CASCADE;

-- AddForeignKey
ALTER TABLE "workflow_versions" ADD CONSTRAINT "workflow_versions_workflow_id_fkey" FOREIGN KEY ("workflow_id") REFERENCES "workflows"("id") ON DELETE RESTRICT ON UPDATE CASCADE;

-- What Prisma's schema language cannot say.
-- E-mail addresses are stored in lower case.
ALTER TABLE "users" ADD CONSTRAINT "users_email_lower" CHECK (email = lower(email));

-- Recovery and hot paths look only at runs that still move; a million old runs are not in these indexes.
CREATE INDEX "runs_active" ON "runs"("orchestration_phase", "id" DESC) INCLUDE ("tenant_id") WHERE "ended_at" IS NULL;
CREATE INDEX "runs_next_timer" ON "runs"("next_timer_at") WHERE "ended_at" IS NULL AND "next_timer_at" IS NOT NULL;
CREATE INDEX "runs_status" ON "runs"("tenant_id", "project_id", "status", "started_at" DESC, "id" DESC);

-- The inbox.
CREATE INDEX "human_tasks_pending" ON "human_tasks"("tenant_id", "created_at" DESC, "run_id" DESC, "step_id" DESC) WHERE "state" = 'pending';

-- Room on each page for HOT updates of the projection: it is updated at every commit of its run.
ALTER TABLE "runs" SET (fillfactor = 70);
