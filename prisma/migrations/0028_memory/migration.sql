-- Both are trusted extensions, which the owner of a database may create. Where the server refuses, memory works without them: search
-- then has no trigrams, and indexes on full text are not divided by workspace (docs/memory.md).
DO $$ BEGIN
  CREATE EXTENSION IF NOT EXISTS pg_trgm;
EXCEPTION WHEN OTHERS THEN
  RAISE NOTICE 'pg_trgm is not available: %', SQLERRM;
END $$;
DO $$ BEGIN
  CREATE EXTENSION IF NOT EXISTS btree_gin;
EXCEPTION WHEN OTHERS THEN
  RAISE NOTICE 'btree_gin is not available: %', SQLERRM;
END $$;

-- What was said or read at one time: a conversation, a file, a run.
CREATE TABLE "memory_episodes" (
    "tenant_id" TEXT NOT NULL,
    "id" UUID NOT NULL,
    "project_id" UUID,
    "workflow_id" UUID,
    "agent_id" UUID,
    "user_id" UUID,
    "source" TEXT NOT NULL,
    "source_ref" TEXT NOT NULL,
    "title" TEXT NOT NULL,
    "trust" TEXT NOT NULL,
    "content_hash" BYTEA NOT NULL,
    "occurred_at" TIMESTAMPTZ(3) NOT NULL,
    "created_by" UUID NOT NULL,
    "created_at" TIMESTAMPTZ(3) NOT NULL,

    CONSTRAINT "memory_episodes_pkey" PRIMARY KEY ("tenant_id", "id"),
    CONSTRAINT "memory_episodes_project_id_fkey" FOREIGN KEY ("project_id") REFERENCES "projects"("id") ON DELETE CASCADE ON UPDATE CASCADE,
    CONSTRAINT "memory_episodes_member_fkey" FOREIGN KEY ("tenant_id", "user_id")
      REFERENCES "memberships"("tenant_id", "user_id") ON DELETE CASCADE ON UPDATE CASCADE
);
-- The same content of one source is one episode, in each scope.
CREATE UNIQUE INDEX "memory_episodes_content" ON "memory_episodes"("tenant_id", "source_ref", "content_hash", "source",
  coalesce("project_id", '00000000-0000-0000-0000-000000000000'), coalesce("user_id", '00000000-0000-0000-0000-000000000000'));
CREATE INDEX "memory_episodes_tenant_id_occurred_at_id_idx" ON "memory_episodes"("tenant_id", "occurred_at" DESC, "id" DESC);
CREATE INDEX "memory_episodes_project_id_idx" ON "memory_episodes"("project_id");

-- A turn, or a part of a file: what search finds of an episode. Its scope is repeated here, so that search needs no join.
CREATE TABLE "memory_chunks" (
    "tenant_id" TEXT NOT NULL,
    "id" UUID NOT NULL,
    "episode_id" UUID NOT NULL,
    "project_id" UUID,
    "workflow_id" UUID,
    "agent_id" UUID,
    "user_id" UUID,
    "position" INTEGER NOT NULL,
    "role" TEXT NOT NULL,
    "trust" TEXT NOT NULL,
    "text" TEXT NOT NULL,
    "folded" TEXT NOT NULL,
    "words" TSVECTOR NOT NULL,
    "tokens" INTEGER NOT NULL,
    "occurred_at" TIMESTAMPTZ(3) NOT NULL,

    CONSTRAINT "memory_chunks_pkey" PRIMARY KEY ("tenant_id", "id"),
    CONSTRAINT "memory_chunks_episode_fkey" FOREIGN KEY ("tenant_id", "episode_id")
      REFERENCES "memory_episodes"("tenant_id", "id") ON DELETE CASCADE ON UPDATE CASCADE
);
CREATE INDEX "memory_chunks_tenant_id_episode_id_position_idx" ON "memory_chunks"("tenant_id", "episode_id", "position");

-- A short statement with its subject, its validity in time, and how far it may be trusted.
CREATE TABLE "memory_items" (
    "tenant_id" TEXT NOT NULL,
    "id" UUID NOT NULL,
    "project_id" UUID,
    "workflow_id" UUID,
    "agent_id" UUID,
    "user_id" UUID,
    "subject" TEXT NOT NULL,
    "subject_key" TEXT NOT NULL,
    "kind" TEXT NOT NULL,
    "text" TEXT NOT NULL,
    "folded" TEXT NOT NULL,
    "words" TSVECTOR NOT NULL,
    "tokens" INTEGER NOT NULL,
    "fingerprint" BYTEA NOT NULL,
    "status" TEXT NOT NULL,
    "trust" TEXT NOT NULL,
    "author" TEXT NOT NULL,
    "confidence" REAL NOT NULL,
    "pinned" BOOLEAN NOT NULL DEFAULT false,
    "valid_from" TIMESTAMPTZ(3) NOT NULL,
    "valid_to" TIMESTAMPTZ(3),
    "supersedes" UUID,
    "superseded_by" UUID,
    "expires_at" TIMESTAMPTZ(3),
    "uses" INTEGER NOT NULL DEFAULT 0,
    "last_used_at" TIMESTAMPTZ(3),
    "revision" INTEGER NOT NULL DEFAULT 1,
    "created_by" UUID NOT NULL,
    "created_at" TIMESTAMPTZ(3) NOT NULL,
    "confirmed_by" UUID,
    "confirmed_at" TIMESTAMPTZ(3),
    "updated_at" TIMESTAMPTZ(3) NOT NULL,

    CONSTRAINT "memory_items_pkey" PRIMARY KEY ("tenant_id", "id"),
    CONSTRAINT "memory_items_project_id_fkey" FOREIGN KEY ("project_id") REFERENCES "projects"("id") ON DELETE CASCADE ON UPDATE CASCADE,
    CONSTRAINT "memory_items_member_fkey" FOREIGN KEY ("tenant_id", "user_id")
      REFERENCES "memberships"("tenant_id", "user_id") ON DELETE CASCADE ON UPDATE CASCADE
);
CREATE INDEX "memory_items_tenant_id_created_at_id_idx" ON "memory_items"("tenant_id", "created_at" DESC, "id" DESC);
CREATE INDEX "memory_items_tenant_id_subject_key_idx" ON "memory_items"("tenant_id", "subject_key");
CREATE INDEX "memory_items_tenant_id_fingerprint_idx" ON "memory_items"("tenant_id", "fingerprint");
CREATE INDEX "memory_items_project_id_idx" ON "memory_items"("project_id");
CREATE INDEX "memory_items_expires_at_idx" ON "memory_items"("expires_at") WHERE "expires_at" IS NOT NULL;

-- Why an item is believed: words that stand in a chunk. The quote is kept when the chunk is replaced by a newer text of the file.
CREATE TABLE "memory_evidence" (
    "tenant_id" TEXT NOT NULL,
    "id" UUID NOT NULL,
    "item_id" UUID NOT NULL,
    "episode_id" UUID NOT NULL,
    "chunk_id" UUID NOT NULL,
    "quote" TEXT NOT NULL,
    "trust" TEXT NOT NULL,
    "added_at" TIMESTAMPTZ(3) NOT NULL,

    CONSTRAINT "memory_evidence_pkey" PRIMARY KEY ("tenant_id", "id"),
    CONSTRAINT "memory_evidence_item_fkey" FOREIGN KEY ("tenant_id", "item_id")
      REFERENCES "memory_items"("tenant_id", "id") ON DELETE CASCADE ON UPDATE CASCADE
);
CREATE INDEX "memory_evidence_tenant_id_item_id_idx" ON "memory_evidence"("tenant_id", "item_id");
CREATE INDEX "memory_evidence_tenant_id_chunk_id_idx" ON "memory_evidence"("tenant_id", "chunk_id");

-- The signs of an embedding, one bit for each dimension. Narrow on purpose: search reads all of a scope. `space` names the model and the
-- dimension, so that embeddings of two models never meet.
CREATE TABLE "memory_bits" (
    "tenant_id" TEXT NOT NULL,
    "space" TEXT NOT NULL,
    "target_id" UUID NOT NULL,
    "is_item" BOOLEAN NOT NULL,
    "project_id" UUID,
    "user_id" UUID,
    "bits" BIT VARYING NOT NULL,

    CONSTRAINT "memory_bits_pkey" PRIMARY KEY ("tenant_id", "space", "target_id")
);
-- The same embedding as 8-bit integers, to rank the nearest exactly.
CREATE TABLE "memory_codes" (
    "tenant_id" TEXT NOT NULL,
    "space" TEXT NOT NULL,
    "target_id" UUID NOT NULL,
    "codes" BYTEA NOT NULL,

    CONSTRAINT "memory_codes_pkey" PRIMARY KEY ("tenant_id", "space", "target_id")
);

-- What tools were given by a search: what extraction must not take for news, and what counts as use.
CREATE TABLE "memory_recalls" (
    "tenant_id" TEXT NOT NULL,
    "id" UUID NOT NULL,
    "project_id" UUID,
    "user_id" UUID NOT NULL,
    "run_id" UUID,
    "target_ids" UUID[],
    "recalled_at" TIMESTAMPTZ(3) NOT NULL,

    CONSTRAINT "memory_recalls_pkey" PRIMARY KEY ("tenant_id", "id"),
    CONSTRAINT "memory_recalls_project_id_fkey" FOREIGN KEY ("project_id") REFERENCES "projects"("id") ON DELETE CASCADE ON UPDATE CASCADE,
    CONSTRAINT "memory_recalls_member_fkey" FOREIGN KEY ("tenant_id", "user_id")
      REFERENCES "memberships"("tenant_id", "user_id") ON DELETE CASCADE ON UPDATE CASCADE
);
CREATE INDEX "memory_recalls_recalled_at_idx" ON "memory_recalls" USING BRIN ("recalled_at");

-- An embedding goes with its text, however that is deleted: alone, with its episode, its project or its person.
CREATE FUNCTION "memory_delete_embeddings"() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
  DELETE FROM memory_bits b USING gone WHERE b.tenant_id = gone.tenant_id AND b.target_id = gone.id;
  DELETE FROM memory_codes c USING gone WHERE c.tenant_id = gone.tenant_id AND c.target_id = gone.id;
  RETURN NULL;
END $$;
CREATE TRIGGER "memory_items_embeddings" AFTER DELETE ON "memory_items"
  REFERENCING OLD TABLE AS gone FOR EACH STATEMENT EXECUTE FUNCTION "memory_delete_embeddings"();
CREATE TRIGGER "memory_chunks_embeddings" AFTER DELETE ON "memory_chunks"
  REFERENCING OLD TABLE AS gone FOR EACH STATEMENT EXECUTE FUNCTION "memory_delete_embeddings"();
CREATE INDEX "memory_bits_tenant_id_target_id_idx" ON "memory_bits"("tenant_id", "target_id");
CREATE INDEX "memory_codes_tenant_id_target_id_idx" ON "memory_codes"("tenant_id", "target_id");

DO $$
DECLARE
  tenant TEXT := '';
BEGIN
  IF EXISTS (SELECT FROM pg_extension WHERE extname = 'btree_gin') THEN
    tenant := 'tenant_id, ';
  END IF;
  EXECUTE 'CREATE INDEX memory_chunks_words ON memory_chunks USING GIN (' || tenant || 'words)';
  EXECUTE 'CREATE INDEX memory_items_words ON memory_items USING GIN (' || tenant || 'words)';
  IF EXISTS (SELECT FROM pg_extension WHERE extname = 'pg_trgm') THEN
    EXECUTE 'CREATE INDEX memory_chunks_trigrams ON memory_chunks USING GIN (' || tenant || 'folded gin_trgm_ops)';
    EXECUTE 'CREATE INDEX memory_items_trigrams ON memory_items USING GIN (' || tenant || 'folded gin_trgm_ops)';
  END IF;
END $$;
