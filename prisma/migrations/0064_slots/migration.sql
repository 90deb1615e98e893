-- The slot of a workspace, for ever: the first two bytes of the SHA-256 of its id (server/orchestrator/shards/slot.ts).
CREATE FUNCTION "baton_slot"("id" TEXT) RETURNS INTEGER LANGUAGE SQL IMMUTABLE STRICT PARALLEL SAFE
AS $$ SELECT get_byte(hash, 0) * 256 + get_byte(hash, 1) FROM sha256(convert_to("id", 'UTF8')) hash $$;
