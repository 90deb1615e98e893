-- What was believed of each memory item since when. A search with `as_of` reads the state of that time, so that it answers what it would
-- have answered then. The state goes with its item. `fingerprint`: words that were written later were not known.
CREATE TABLE "memory_item_states" (
    "tenant_id" TEXT NOT NULL,
    "item_id" UUID NOT NULL,
    "at" TIMESTAMPTZ(3) NOT NULL,
    "status" TEXT NOT NULL,
    "valid_from" TIMESTAMPTZ(3) NOT NULL,
    "valid_to" TIMESTAMPTZ(3),
    "expires_at" TIMESTAMPTZ(3),
    "fingerprint" BYTEA NOT NULL,

    CONSTRAINT "memory_item_states_pkey" PRIMARY KEY ("tenant_id", "item_id", "at"),
    CONSTRAINT "memory_item_states_item_fkey" FOREIGN KEY ("tenant_id", "item_id")
      REFERENCES "memory_items"("tenant_id", "id") ON DELETE CASCADE ON UPDATE CASCADE
);

-- Whoever changes an item, the state is noted. Several changes at one instant are one.
CREATE FUNCTION "memory_note_item_state"() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
  INSERT INTO memory_item_states (tenant_id, item_id, at, status, valid_from, valid_to, expires_at, fingerprint)
  VALUES (NEW.tenant_id, NEW.id, NEW.updated_at, NEW.status, NEW.valid_from, NEW.valid_to, NEW.expires_at, NEW.fingerprint)
  ON CONFLICT (tenant_id, item_id, at) DO UPDATE SET status = excluded.status, valid_from = excluded.valid_from,
    valid_to = excluded.valid_to, expires_at = excluded.expires_at, fingerprint = excluded.fingerprint;
  RETURN NULL;
END $$;
CREATE TRIGGER "memory_items_states"
  AFTER INSERT OR UPDATE OF "status", "valid_from", "valid_to", "expires_at", "fingerprint" ON "memory_items"
  FOR EACH ROW EXECUTE FUNCTION "memory_note_item_state"();

-- Items from before: what was believed is known of the last confirmation, and of the one of the item that took their place.
INSERT INTO memory_item_states (tenant_id, item_id, at, status, valid_from, valid_to, expires_at, fingerprint)
SELECT tenant_id, id, coalesce(confirmed_at, created_at),
  CASE WHEN status = 'superseded' THEN 'active' ELSE status END, valid_from, NULL, expires_at, fingerprint
FROM memory_items;
INSERT INTO memory_item_states (tenant_id, item_id, at, status, valid_from, valid_to, expires_at, fingerprint)
SELECT i.tenant_id, i.id, greatest(coalesce(n.confirmed_at, i.updated_at), coalesce(i.confirmed_at, i.created_at)), i.status, i.valid_from,
  i.valid_to, i.expires_at, i.fingerprint
FROM memory_items i LEFT JOIN memory_items n ON n.tenant_id = i.tenant_id AND n.id = i.superseded_by
WHERE i.status = 'superseded'
ON CONFLICT (tenant_id, item_id, at) DO UPDATE SET status = excluded.status, valid_to = excluded.valid_to;

-- What has taken the place of an item, and what it has taken the place of, are looked up when either changes or goes.
CREATE INDEX "memory_items_superseded_by_idx" ON "memory_items"("tenant_id", "superseded_by") WHERE "superseded_by" IS NOT NULL;
CREATE INDEX "memory_items_supersedes_idx" ON "memory_items"("tenant_id", "supersedes") WHERE "supersedes" IS NOT NULL;

-- A chunk that is a part of a longer message: nobody can tell from it what of that is the person's own and what they pasted.
ALTER TABLE "memory_chunks" ADD COLUMN "is_part" BOOLEAN NOT NULL DEFAULT false;
-- A long message is cut at 400 tokens, so that each part but the last has at least 150, or was followed by blanks.
UPDATE memory_chunks c SET is_part = true
WHERE c.role = 'user' AND (c.tokens >= 150 OR EXISTS (SELECT FROM memory_chunks p WHERE p.tenant_id = c.tenant_id
  AND p.episode_id = c.episode_id AND p.position = c.position - 1 AND p.role = c.role AND p.tokens >= 150));
