import type { Pool } from 'pg';

/** The maximum time between two saves of one editing session. */
const PAUSE_MINUTES = 15;
/** The maximum number of saves of a session that are counted: about three hours of an editor that saves each second. */
const MAX_SAVES = 10_000;

/** SQL for the longest time between two saves of one editing session. */
export const PAUSE = `interval '${PAUSE_MINUTES} minutes'`;

/** Returns SQL that tells whether an entry is a save of a draft. An index exists for it (prisma/migrations/0060_saved_views). */
export const isSave = (entry: string): string =>
  `${entry}.operation IN ('workflows_patch', 'workflows_edit') AND ${entry}.outcome = 'ok'`;

/** Returns SQL that tells whether both entries are saves of one draft by one person, in the same way: the console, or the same token. */
export const ofSameSession = (one: string, other: string): string =>
  `${isSave(one)} AND ${one}.tenant_id = ${other}.tenant_id AND ${one}.user_id = ${other}.user_id
   AND ${one}.target ->> 'id' = ${other}.target ->> 'id' AND ${one}.surface = ${other}.surface
   AND ${one}.pat_id IS NOT DISTINCT FROM ${other}.pat_id`;

/** The saves of a session until its last one. The revisions are those that the first and the last save made. */
export type Session = { saves: number; firstAt: Date; firstRevision: number | null; lastRevision: number | null };

/**
 * Returns the sessions that end with the entries of these ids, as far as these are saves. `from`: counts only saves
 * since then, in ms since the epoch.
 */
export async function readSessions(
  pool: Pool,
  tenantId: string,
  ids: readonly string[],
  from: number | undefined,
): Promise<Map<string, Session>> {
  const { rows } = await pool.query<{ last: string; saves: number; first_at: Date; first: string; revision: string }>(
    `WITH RECURSIVE saves AS (
       SELECT e.*, e.id AS last, 1 AS n FROM audit_entries e
        WHERE e.tenant_id = $1 AND e.id = ANY($2::uuid[]) AND ${isSave('e')}
       UNION ALL
       SELECT p.*, s.last, s.n + 1 FROM saves s, LATERAL (
         SELECT * FROM audit_entries p
          WHERE ${ofSameSession('p', 's')} AND p.id < s.id
          ORDER BY p.id DESC LIMIT 1) p
        WHERE p.at >= s.at - ${PAUSE} AND ($3::timestamptz IS NULL OR p.at >= $3) AND s.n < ${MAX_SAVES})
     SELECT last, count(*)::int AS saves, min(at) AS first_at,
            (array_agg(target ->> 'revision' ORDER BY n DESC))[1] AS first,
            (array_agg(target ->> 'revision' ORDER BY n))[1] AS revision
       FROM saves GROUP BY last`,
    [tenantId, ids, from === undefined ? null : new Date(from)],
  );
  const numberOf = (text: string | null) => (text === null ? null : Number(text));
  return new Map(
    rows.map(row => [
      row.last,
      {
        saves: row.saves,
        firstAt: row.first_at,
        firstRevision: numberOf(row.first),
        lastRevision: numberOf(row.revision),
      },
    ]),
  );
}
