-- Logs from before outcomes were cleaned may contain \u0000 or half a surrogate pair. A column of json keeps both, but
-- PostgreSQL refuses to read any field of such a value (22P05, 22P02). A read that was refused is repeated on these
-- views (server/platform/postgres/readable-json.ts). The log itself is never changed.
CREATE FUNCTION readable_json(value json) RETURNS json LANGUAGE sql IMMUTABLE PARALLEL SAFE STRICT AS $$
  SELECT CASE
    WHEN value::text !~ '\\u(0000|[dD][89a-fA-F])' THEN value
    -- An even number of backslashes before the escape: it is not itself escaped. First NUL and high halves without a
    -- low one, then low halves without a high one.
    ELSE regexp_replace(
      regexp_replace(
        value::text,
        '(?<!\\)((?:\\\\)*)\\u(?:0000|[dD][89abAB][0-9a-fA-F]{2}(?!\\u[dD][c-fC-F][0-9a-fA-F]{2}))',
        '\1\\ufffd', 'g'),
      '(?<!\\u[dD][89abAB][0-9a-fA-F]{2})(?<!\\)((?:\\\\)*)\\u[dD][c-fC-F][0-9a-fA-F]{2}',
      '\1\\ufffd', 'g')::json
  END
$$;

CREATE VIEW readable_run_events AS
  SELECT run_id, seq, event_type, step_id, attempt, readable_json(data) AS data, created_at FROM run_events;

CREATE VIEW readable_run_payloads AS
  SELECT id, run_id, readable_json(body) AS body, created_at FROM run_payloads;
