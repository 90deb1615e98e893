import type { Pool } from 'pg';
import { query } from './postgres-template.ts';

/** Returns a digest of the rows of each table that holds any, and the number of each sequence that was used, by their names. */
export async function digestRows(url: string): Promise<Record<string, string>> {
  const tables = await query(
    url,
    `SELECT quote_ident(relname) AS name FROM pg_class WHERE relkind = 'r' AND relnamespace = 'public'::regnamespace ORDER BY 1`,
  );
  const digests = tables.map(
    ({ name }) =>
      `SELECT '${name}' AS name, count(*) || ' ' || md5(string_agg(t::text, E'\\n' ORDER BY t::text)) AS digest FROM ${name} t`,
  );
  const rows = await query(url, digests.join(' UNION ALL '));
  const numbers = await query(
    url,
    `SELECT sequencename AS name, last_value::text AS digest FROM pg_sequences WHERE schemaname = 'public'`,
  );
  return Object.fromEntries(
    [...rows, ...numbers].filter(({ digest }) => digest !== null).map(({ name, digest }) => [name, digest]),
  );
}

/** Returns one line for each column, index, constraint, trigger, view, function, sequence, partition and setting of the schema. */
export async function describeSchema(url: string): Promise<string[]> {
  const own = `'public'::regnamespace`;
  const rows = await query(
    url,
    `SELECT concat_ws(' ', 'column', table_name, column_name, data_type, domain_name, is_nullable, column_default) AS line
     FROM information_schema.columns WHERE table_schema = 'public'
     UNION ALL SELECT 'index ' || indexdef FROM pg_indexes WHERE schemaname = 'public'
     UNION ALL SELECT concat_ws(' ', 'constraint', conrelid::regclass, conname, convalidated, pg_get_constraintdef(oid))
     FROM pg_constraint WHERE connamespace = ${own}
     UNION ALL SELECT concat_ws(' ', 'trigger', tgenabled, pg_get_triggerdef(oid)) FROM pg_trigger WHERE NOT tgisinternal
     UNION ALL SELECT concat_ws(' ', 'view', relname, pg_get_viewdef(oid)) FROM pg_class WHERE relkind = 'v' AND relnamespace = ${own}
     UNION ALL SELECT 'function ' || pg_get_functiondef(p.oid) FROM pg_proc p WHERE pronamespace = ${own}
       AND NOT EXISTS (SELECT FROM pg_depend d WHERE d.objid = p.oid AND d.deptype = 'e')
     UNION ALL SELECT concat_ws(' ', 'sequence', s.seqrelid::regclass, s.seqtypid::regtype,
       (SELECT string_agg(d.refobjid::regclass || '.' || d.refobjsubid, ',') FROM pg_depend d
        WHERE d.objid = s.seqrelid AND d.deptype = 'a' AND d.refclassid = 'pg_class'::regclass)) FROM pg_sequence s
     UNION ALL SELECT concat_ws(' ', 'relation', relname, relkind, relpersistence, pg_get_expr(relpartbound, oid), reloptions::text)
     FROM pg_class WHERE relnamespace = ${own} AND relkind IN ('r', 'p')
     UNION ALL SELECT 'extension ' || extname FROM pg_extension ORDER BY 1`,
  );
  return rows.map(({ line }) => String(line));
}

/** Fills tables with what is hard to copy: odd texts, bytes, big numbers, arrays, JSON, and rows that triggers answer. */
export async function insertOddRows(pool: Pool, tenantId: string): Promise<void> {
  const odd = `tab\t, line\n, return\r, "quotes", \\N, \\. and \\\\, \u00e9\u{1f600}, {}`;
  await pool.query(
    `INSERT INTO memory_items (tenant_id, id, subject, subject_key, kind, text, folded, words, tokens, fingerprint, status, trust, author,
       confidence, valid_from, created_by, created_at, updated_at)
     VALUES ($1, gen_random_uuid(), $2, $2, 'fact', $2, $2, to_tsvector('simple', $2), 1, $3, 'active', 'user', 'person', 0.1,
       '-infinity', gen_random_uuid(), '2026-11-01T00:00:00.123Z', '2026-11-01T00:00:00.123Z')`,
    [tenantId, odd, Buffer.from([0, 1, 92, 255])],
  );
  await pool.query(
    `INSERT INTO run_events (run_id, seq, event_type, data, created_at)
     SELECT ('019ac000-0000-7000-8000-' || lpad(n::text, 12, '0'))::uuid, 1, 'log', json_build_object('n', 9007199254740993, 't', $1::text), now()
     FROM generate_series(1, 3) n`,
    [odd],
  );
  await pool.query(`SELECT nextval('human_tasks_seq_seq') FROM generate_series(1, 7)`);
}
