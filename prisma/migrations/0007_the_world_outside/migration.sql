-- What Baton calls and what calls it: webhook subscriptions, connections, MCP servers and their instances. Secrets are in the secret store.
CREATE TABLE "webhook_subscriptions" (
    "id" UUID NOT NULL,
    "tenant_id" TEXT NOT NULL,
    "project_id" UUID NOT NULL,
    "workflow_id" UUID NOT NULL,
    "name" TEXT NOT NULL,
    "enabled" BOOLEAN NOT NULL,
    "automation_pat_id" UUID,
    "extras" JSON NOT NULL,
    "require_timestamp" BOOLEAN NOT NULL,
    "previous_secret_expires_at" TIMESTAMPTZ(3),
    "created_by" UUID NOT NULL,
    "created_at" TIMESTAMPTZ(3) NOT NULL,
    "updated_at" TIMESTAMPTZ(3) NOT NULL,
    CONSTRAINT "webhook_subscriptions_pkey" PRIMARY KEY ("id"),
    CONSTRAINT "webhook_subscriptions_workflow_id_fkey" FOREIGN KEY ("workflow_id") REFERENCES "workflows"("id") ON DELETE RESTRICT ON UPDATE CASCADE
);
CREATE INDEX "webhook_subscriptions_list" ON "webhook_subscriptions"("tenant_id", "project_id", "created_at" DESC, "id" DESC);
CREATE INDEX "webhook_subscriptions_workflow" ON "webhook_subscriptions"("workflow_id");

CREATE TABLE "webhook_deliveries" (
    "id" UUID NOT NULL,
    "subscription_id" UUID NOT NULL,
    "tenant_id" TEXT NOT NULL,
    "outcome" TEXT NOT NULL,
    "http_status" INTEGER NOT NULL,
    "run_id" UUID,
    "code" TEXT,
    "message" TEXT,
    "bytes" INTEGER NOT NULL,
    "duration_ms" INTEGER NOT NULL,
    "received_at" TIMESTAMPTZ(3) NOT NULL,
    CONSTRAINT "webhook_deliveries_pkey" PRIMARY KEY ("subscription_id", "id"),
    CONSTRAINT "webhook_deliveries_subscription_id_fkey" FOREIGN KEY ("subscription_id") REFERENCES "webhook_subscriptions"("id") ON DELETE CASCADE ON UPDATE CASCADE
);

CREATE TABLE "connections" (
    "id" UUID NOT NULL,
    "tenant_id" TEXT NOT NULL,
    "name" TEXT NOT NULL,
    "provider" TEXT NOT NULL,
    "service" TEXT NOT NULL,
    "status" TEXT NOT NULL,
    "credential_keys" TEXT[],
    "config" JSON NOT NULL,
    "account" JSON,
    "last_error" TEXT,
    "expires_at" TIMESTAMPTZ(3),
    "rotated_at" TIMESTAMPTZ(3) NOT NULL,
    "last_used_at" TIMESTAMPTZ(3),
    "created_by" UUID NOT NULL,
    "created_at" TIMESTAMPTZ(3) NOT NULL,
    "updated_at" TIMESTAMPTZ(3) NOT NULL,
    CONSTRAINT "connections_pkey" PRIMARY KEY ("id")
);
CREATE INDEX "connections_list" ON "connections"("tenant_id", "created_at" DESC, "id" DESC);

-- An OAuth flow between its beginning and its callback; the PKCE verifier is in the secret store as oauth-flow/<id>.
CREATE TABLE "oauth_flows" (
    "id" UUID NOT NULL,
    "state_hash" BYTEA NOT NULL,
    "tenant_id" TEXT NOT NULL,
    "user_id" UUID NOT NULL,
    "kind" TEXT NOT NULL,
    "request" JSON NOT NULL,
    "created_at" TIMESTAMPTZ(3) NOT NULL,
    "expires_at" TIMESTAMPTZ(3) NOT NULL,
    CONSTRAINT "oauth_flows_pkey" PRIMARY KEY ("id")
);
CREATE UNIQUE INDEX "oauth_flows_state_hash_key" ON "oauth_flows"("state_hash");
CREATE INDEX "oauth_flows_expires_at_idx" ON "oauth_flows"("expires_at");

CREATE TABLE "mcp_servers" (
    "id" UUID NOT NULL,
    "tenant_id" TEXT NOT NULL,
    "name" TEXT NOT NULL,
    "service" TEXT NOT NULL,
    "canonical_url" TEXT NOT NULL,
    "mode" TEXT NOT NULL,
    "auth_mode" TEXT NOT NULL,
    "status" TEXT NOT NULL,
    "latest_version" INTEGER,
    "tool_count" INTEGER NOT NULL,
    "discovered" JSON,
    "discovered_at" TIMESTAMPTZ(3),
    "last_error" TEXT,
    "created_by" UUID NOT NULL,
    "created_at" TIMESTAMPTZ(3) NOT NULL,
    "updated_at" TIMESTAMPTZ(3) NOT NULL,
    CONSTRAINT "mcp_servers_pkey" PRIMARY KEY ("id")
);
CREATE UNIQUE INDEX "mcp_servers_tenant_id_service_key" ON "mcp_servers"("tenant_id", "service");
CREATE INDEX "mcp_servers_list" ON "mcp_servers"("tenant_id", "created_at" DESC, "id" DESC);

-- Immutable: the tools as they were when the version was published.
CREATE TABLE "mcp_server_versions" (
    "server_id" UUID NOT NULL,
    "version" INTEGER NOT NULL,
    "tenant_id" TEXT NOT NULL,
    "tools" JSON NOT NULL,
    "server_info" JSON NOT NULL,
    "changelog" TEXT NOT NULL,
    "checksum" TEXT NOT NULL,
    "published_by" UUID NOT NULL,
    "published_at" TIMESTAMPTZ(3) NOT NULL,
    CONSTRAINT "mcp_server_versions_pkey" PRIMARY KEY ("server_id", "version"),
    CONSTRAINT "mcp_server_versions_server_id_fkey" FOREIGN KEY ("server_id") REFERENCES "mcp_servers"("id") ON DELETE CASCADE ON UPDATE CASCADE
);

-- `version` null: always the latest published one.
CREATE TABLE "mcp_instances" (
    "id" UUID NOT NULL,
    "tenant_id" TEXT NOT NULL,
    "project_id" UUID NOT NULL,
    "server_id" UUID NOT NULL,
    "version" INTEGER,
    "name" TEXT NOT NULL,
    "connection_id" UUID,
    "config" JSON NOT NULL,
    "active_profile_id" UUID,
    "created_by" UUID NOT NULL,
    "created_at" TIMESTAMPTZ(3) NOT NULL,
    "updated_at" TIMESTAMPTZ(3) NOT NULL,
    CONSTRAINT "mcp_instances_pkey" PRIMARY KEY ("id"),
    CONSTRAINT "mcp_instances_server_id_fkey" FOREIGN KEY ("server_id") REFERENCES "mcp_servers"("id") ON DELETE RESTRICT ON UPDATE CASCADE,
    CONSTRAINT "mcp_instances_connection_id_fkey" FOREIGN KEY ("connection_id") REFERENCES "connections"("id") ON DELETE SET NULL ON UPDATE CASCADE
);
CREATE INDEX "mcp_instances_list" ON "mcp_instances"("tenant_id", "project_id", "created_at" DESC, "id" DESC);
CREATE INDEX "mcp_instances_server_id_idx" ON "mcp_instances"("server_id");
CREATE INDEX "mcp_instances_connection_id_idx" ON "mcp_instances"("connection_id");

CREATE TABLE "mcp_config_profiles" (
    "id" UUID NOT NULL,
    "tenant_id" TEXT NOT NULL,
    "instance_id" UUID NOT NULL,
    "name" TEXT NOT NULL,
    "settings" JSON NOT NULL,
    "connection_id" UUID,
    "created_at" TIMESTAMPTZ(3) NOT NULL,
    "updated_at" TIMESTAMPTZ(3) NOT NULL,
    CONSTRAINT "mcp_config_profiles_pkey" PRIMARY KEY ("id"),
    CONSTRAINT "mcp_config_profiles_instance_id_fkey" FOREIGN KEY ("instance_id") REFERENCES "mcp_instances"("id") ON DELETE CASCADE ON UPDATE CASCADE,
    CONSTRAINT "mcp_config_profiles_connection_id_fkey" FOREIGN KEY ("connection_id") REFERENCES "connections"("id") ON DELETE SET NULL ON UPDATE CASCADE
);
CREATE UNIQUE INDEX "mcp_config_profiles_instance_id_name_key" ON "mcp_config_profiles"("instance_id", "name");
CREATE INDEX "mcp_config_profiles_connection_id_idx" ON "mcp_config_profiles"("connection_id");
