-- Whose a connection is and where its credentials may be sent (docs/adr/0012). Before, every contributor of a workspace could send every
-- credential to a server of their own and read it there.
ALTER TABLE "connections"
    ADD COLUMN "project_id" UUID,
    ADD COLUMN "origins" TEXT[],
    ADD COLUMN "secret_set_by" UUID,
    ADD COLUMN "token_origin" TEXT;

-- A connection that only one project can be using becomes that project's. The others stay with the workspace, so that nothing that works
-- today fails: model keys serve every project, and nobody knows which projects an unused connection is meant for.
UPDATE "connections" c SET "project_id" = single."id"
  FROM (SELECT "tenant_id", min("id"::text)::uuid AS "id" FROM "projects" GROUP BY "tenant_id" HAVING count(*) = 1) single
 WHERE single."tenant_id" = c."tenant_id";

CREATE TEMPORARY TABLE "connection_uses" AS
    SELECT i."connection_id", i."project_id", i."server_id" FROM "mcp_instances" i WHERE i."connection_id" IS NOT NULL
    UNION
    SELECT p."connection_id", i."project_id", i."server_id"
      FROM "mcp_config_profiles" p JOIN "mcp_instances" i ON i."id" = p."instance_id" WHERE p."connection_id" IS NOT NULL;

UPDATE "connections" c SET "project_id" = used."project_id"
  FROM (SELECT u."connection_id", min(u."project_id"::text)::uuid AS "project_id"
          FROM "connection_uses" u JOIN "projects" p ON p."id" = u."project_id"
         GROUP BY u."connection_id" HAVING count(DISTINCT u."project_id") = 1) used
 WHERE used."connection_id" = c."id" AND c."project_id" IS NULL AND c."service" <> 'llm';

-- The origins that credentials are sent to now. Addresses of servers are stored as URLs are written canonically, so that their origin is a
-- prefix. An address that is not (a model key's, in a script other than Latin) matches nothing later, and its key is entered again.
UPDATE "connections" c SET "origins" = coalesce((
    SELECT array_agg(DISTINCT substring(s."canonical_url" FROM '^https?://[^/?#]+'))
      FROM "connection_uses" u JOIN "mcp_servers" s ON s."id" = u."server_id" AND s."tenant_id" = c."tenant_id"
     WHERE u."connection_id" = c."id" AND s."auth_mode" <> 'none'), '{}');

UPDATE "connections" c SET "origins" = array_append(c."origins",
    regexp_replace(regexp_replace(substring(lower(asked."url") FROM '^https?://[^/?#]+'), '^(https://.*):443$', '\1'), '^(http://.*):80$', '\1'))
  FROM (SELECT "id", coalesce("config" ->> 'base_url', CASE "provider"
            WHEN 'openai' THEN 'https://api.openai.com'
            WHEN 'anthropic' THEN 'https://api.anthropic.com'
            WHEN 'google' THEN 'https://generativelanguage.googleapis.com'
            WHEN 'mistral' THEN 'https://api.mistral.ai' END) AS "url"
          FROM "connections" WHERE "service" = 'llm') asked
 WHERE asked."id" = c."id" AND lower(asked."url") ~ '^https?://[^/?#]+';

-- Who stored the secret is known where it was never replaced. A suite account was connected again by the same account or not at all.
UPDATE "connections" SET "secret_set_by" = "created_by" WHERE "rotated_at" = "created_at" OR "provider" = 'suite';

DROP TABLE "connection_uses";

CREATE INDEX "connections_project_id_idx" ON "connections"("project_id");
ALTER TABLE "connections" ADD CONSTRAINT "connections_project_id_fkey"
    FOREIGN KEY ("project_id") REFERENCES "projects"("id") ON DELETE RESTRICT ON UPDATE CASCADE;
