/** The number of a project's newest runs that are searched before the indexes are used; the search takes about 2 ms. */
const MAX_NEWEST_SEARCHED = 1_000;
/**
 * The maximum number of matches that are fetched from an index and sorted. If there are more, the runs are searched in the order of
 * the list instead. Among a million runs 4,000 matches are one in 250, so a page is found after some 13,000 runs;
 * fetching and sorting 4,000 costs about as much.
 */
const MAX_SORTED_MATCHES = 4_000;

/** Parameters, and conditions on a run `r` for each way in which `q` can match. */
type Matching = { prefix: string; contained: string; byId: string; bySession: string; byValue: string };

function matching(q: string, parameter: (value: unknown) => string): Matching {
  const escaped = q.replace(/[\\%_]/g, '\\$&');
  const prefix = parameter(`${escaped}%`);
  const ids = idsBeginningWith(q);
  return {
    prefix,
    contained: parameter(`%${escaped}%`),
    byId: ids === null ? 'false' : `r.id BETWEEN ${parameter(ids.first)}::uuid AND ${parameter(ids.last)}::uuid`,
    bySession: `(r.session_id LIKE ${prefix} AND r.session_id <> r.id::text)`,
    // LIMIT: without it, PostgreSQL would evaluate an EXISTS for frequent values by reading the whole table.
    byValue: `(SELECT true FROM run_search_values v WHERE v.run_id = r.id AND v.value LIKE ${prefix} LIMIT 1)`,
  };
}

/**
 * Returns the condition that `q` matches a run `r`, for queries that select the run in another way and need no index.
 */
export function matchesText(q: string, parameter: (value: unknown) => string): string {
  const { prefix, contained, byId, bySession, byValue } = matching(q, parameter);
  const byName = `EXISTS (SELECT FROM workflows w WHERE w.id = r.workflow_id AND w.name ILIKE ${contained})`;
  return `(${byId} OR ${bySession} OR r.trigger_type LIKE ${prefix} OR ${byName} OR ${byValue})`;
}

/**
 * Returns SQL for the newest runs `r` of a project `p` in which the searchable field `name` has exactly this value,
 * read from the index in the order of the list. `where` and `parameter`: see `searchRuns`.
 */
export function runsWithValue(
  {
    name,
    value,
    q,
    after,
  }: { name: string; value: string; q: string | undefined; after: { at: Date; id: string } | null },
  where: readonly string[],
  parameter: (value: unknown) => string,
): string {
  const conditions = [...where];
  if (q !== undefined) conditions.push(matchesText(q, parameter));
  const from =
    after === null ? '' : `AND (f.started_at, f.run_id) < (${parameter(after.at)}, ${parameter(after.id)}::uuid)`;
  return `
    SELECT r.* FROM run_search_values f
      CROSS JOIN LATERAL (SELECT * FROM runs r WHERE r.id = f.run_id AND ${conditions.join(' AND ')} LIMIT 1) r
     WHERE f.project_id = p.id AND f.name = ${parameter(name)} AND f.value = ${parameter(value)} ${from}
     ORDER BY f.started_at DESC, f.run_id DESC LIMIT $3`;
}

/**
 * Returns SQL for the newest runs `r` of a project `p` whose id, session, trigger type or a searchable value begins
 * with `q`, or whose workflow has `q` in its name. `where` are further conditions, `$1` is the tenant and `$3` the
 * maximum number of rows. Frequent matches are found among the newest runs, in their order. Rare matches are looked up
 * by prefix and by workflow, in indexes with another order: a search in list order would read every run of the project
 * for a `q` without a match (0.8 s for 300,000).
 */
export function searchRuns(q: string, where: readonly string[], parameter: (value: unknown) => string): string {
  const { prefix, contained, byId, bySession, byValue } = matching(q, parameter);
  const byName = 'r.workflow_id = ANY (ARRAY(SELECT id FROM named))';
  const matches = `(${byId} OR ${bySession} OR r.trigger_type LIKE ${prefix} OR ${byName} OR ${byValue})`;
  const conditions = where.join(' AND ');
  const inOrder = 'ORDER BY r.started_at DESC, r.id DESC';
  const ofProject = 'r.tenant_id = $1 AND r.project_id = p.id';
  const nextType = (after: string) =>
    `(SELECT r.trigger_type FROM runs r WHERE ${ofProject} AND r.trigger_type <> 'api' AND r.trigger_type LIKE ${prefix} ${after}
       ORDER BY r.trigger_type USING ~<~ LIMIT 1)`;
  // `api` is the only trigger type without an index: if no such run is among the newest, the runs are searched in the
  // order of the list.
  const ofApi = 'api'.startsWith(q);
  // For these, even many ids are fetched and sorted: in the order of the list, they may come after all newer runs. Each
  // part runs only if the parts before it found too few: PostgreSQL evaluates a condition without a table first.
  return `
    WITH RECURSIVE named AS MATERIALIZED (
      SELECT w.id FROM workflows w WHERE w.tenant_id = $1 AND w.project_id = p.id AND w.name ILIKE ${contained}),
    newest AS MATERIALIZED (
      SELECT r.* FROM runs r WHERE ${conditions} ${inOrder} LIMIT ${MAX_NEWEST_SEARCHED}),
    near AS MATERIALIZED (SELECT r.* FROM newest r WHERE ${matches} ${inOrder} LIMIT $3),
    enough AS MATERIALIZED (
      SELECT (SELECT count(*) FROM near) >= $3 OR (SELECT count(*) FROM newest) < ${MAX_NEWEST_SEARCHED} AS so),
    few_ids AS MATERIALIZED (SELECT r.id FROM runs r WHERE NOT (SELECT so FROM enough) AND ${byId} LIMIT ${MAX_SORTED_MATCHES + 1}),
    few AS MATERIALIZED (
      SELECT id FROM (
        (SELECT r.id FROM runs r WHERE NOT (SELECT so FROM enough) AND ${ofProject} AND ${bySession} LIMIT ${MAX_SORTED_MATCHES + 1})
        UNION ALL
        (SELECT v.run_id FROM run_search_values v
          WHERE NOT (SELECT so FROM enough) AND v.project_id = p.id AND v.value LIKE ${prefix} LIMIT ${MAX_SORTED_MATCHES + 1})) found
      LIMIT ${MAX_SORTED_MATCHES + 1}),
    many_ids AS MATERIALIZED (SELECT count(*) > ${MAX_SORTED_MATCHES} AS so FROM few_ids),
    many AS MATERIALIZED (SELECT NOT (SELECT so FROM enough) AND (${ofApi} OR count(*) > ${MAX_SORTED_MATCHES}) AS so FROM few),
    types(type) AS (
      SELECT ${nextType('')} WHERE NOT (SELECT so FROM enough) AND NOT (SELECT so FROM many)
      UNION ALL SELECT ${nextType('AND r.trigger_type ~>~ types.type')} FROM types WHERE types.type IS NOT NULL),
    found AS MATERIALIZED (
      SELECT id FROM few WHERE NOT (SELECT so FROM many)
      UNION SELECT id FROM few_ids WHERE NOT (SELECT so FROM many_ids)
      UNION (SELECT r.id FROM (
          SELECT * FROM runs r WHERE (SELECT so FROM many_ids) AND NOT (SELECT so FROM many) AND ${byId} OFFSET 0) r
        WHERE ${conditions} ${inOrder} LIMIT $3)
      UNION SELECT r.id FROM named CROSS JOIN LATERAL (
        SELECT r.id FROM runs r WHERE r.workflow_id = named.id AND ${conditions} ${inOrder} LIMIT $3) r
        WHERE NOT (SELECT so FROM enough) AND NOT (SELECT so FROM many)
      UNION SELECT r.id FROM types CROSS JOIN LATERAL (
        SELECT r.id FROM runs r WHERE r.trigger_type = types.type AND r.trigger_type <> 'api' AND ${conditions} ${inOrder} LIMIT $3) r
        WHERE types.type IS NOT NULL)
    SELECT * FROM near WHERE (SELECT so FROM enough)
    UNION ALL
    (SELECT r.* FROM found f CROSS JOIN LATERAL (SELECT * FROM runs r WHERE r.id = f.id AND ${conditions} LIMIT 1) r
      ${inOrder} LIMIT $3)
    UNION ALL
    (SELECT r.* FROM runs r WHERE (SELECT so FROM many) AND ${conditions} AND ${matches} ${inOrder} LIMIT $3)`;
}

const FIRST_ID = '00000000-0000-0000-0000-000000000000';
const LAST_ID = 'ffffffff-ffff-ffff-ffff-ffffffffffff';

/** Returns the first and last UUID whose text begins with `q`, ignoring case; null for none. */
function idsBeginningWith(q: string): { first: string; last: string } | null {
  const begin = q.toLowerCase();
  const first = begin + FIRST_ID.slice(begin.length);
  return /^[0-9a-f]{8}-(?:[0-9a-f]{4}-){3}[0-9a-f]{12}$/.test(first)
    ? { first, last: begin + LAST_ID.slice(begin.length) }
    : null;
}
