import type { Pool } from 'pg';
import type { BulkAction, Requester } from './actions.ts';
import type { BulkFilter, StopFilter } from './schemas.ts';

export type StopMode = 'immediate' | 'graceful';

/** The filter of a bulk stop or of any bulk action. */
export type MatchFilter = Omit<StopFilter, 'status' | 'test'> & BulkFilter;

/** A stored bulk action. Stops of `POST /v1/runs/stop` are bulk actions, too. */
export type StopRow = {
  id: string;
  tenantId: string;
  filter: MatchFilter;
  mode: StopMode;
  action: BulkAction;
  version: 'latest' | null;
  requester: Requester | null;
  requestedBy: string;
  requestedAt: Date;
  /** The time until which new runs match. Later runs are stopped only as children of targets. */
  matchingUntil: Date;
  cursorAt: Date | null;
  cursorId: string | null;
  /** Whether the current scan of the active runs has found any. */
  foundInPass: boolean;
  quietSince: Date | null;
  matched: number;
  stopped: number;
  alreadyEnded: number;
  failed: number;
  firstError: string | null;
  finishedAt: Date | null;
};

const COLUMNS = `id, tenant_id AS "tenantId", filter, mode, requested_by AS "requestedBy", requested_at AS "requestedAt",
  matching_until AS "matchingUntil", cursor_at AS "cursorAt", cursor_id AS "cursorId", found_in_pass AS "foundInPass",
  quiet_since AS "quietSince", matched, stopped, already_ended AS "alreadyEnded", failed, finished_at AS "finishedAt",
  action, version, requester, first_error AS "firstError"`;

export type NewStop = Pick<
  StopRow,
  | 'id'
  | 'tenantId'
  | 'filter'
  | 'mode'
  | 'requestedBy'
  | 'requestedAt'
  | 'matchingUntil'
  | 'action'
  | 'version'
  | 'requester'
> & {
  /** A digest of the filter and the mode. */
  digest: string;
};

/**
 * Inserts a bulk stop, or extends the unfinished one with the same filter and mode to the later time. Returns null if the
 * tenant has `max` unfinished ones already.
 */
export async function insertStop(pool: Pool, stop: NewStop, max: number): Promise<StopRow | null> {
  const { rows } = await pool.query<StopRow>(
    `INSERT INTO run_stops (id, tenant_id, filter, mode, digest, requested_by, requested_at, matching_until, action,
                            version, requester)
     SELECT $1, $2, $3, $4, $5, $6, $7, $8, $10, $11, $12::json
      WHERE (SELECT count(*) FROM run_stops WHERE tenant_id = $2 AND finished_at IS NULL AND digest <> $5) < $9
     ON CONFLICT (tenant_id, digest) WHERE finished_at IS NULL
     DO UPDATE SET quiet_since = NULL, matching_until =
       CASE WHEN run_stops.requester IS NULL THEN excluded.matching_until ELSE run_stops.matching_until END
     RETURNING ${COLUMNS}`,
    [
      stop.id,
      stop.tenantId,
      JSON.stringify(stop.filter),
      stop.mode,
      stop.digest,
      stop.requestedBy,
      stop.requestedAt,
      stop.matchingUntil,
      max,
      stop.action,
      stop.version,
      stop.requester && JSON.stringify(stop.requester),
    ],
  );
  return rows[0] ?? null;
}

/** Deletes the finished bulk stops of a tenant, except for the newest `kept`. */
export async function deleteOldStops(pool: Pool, tenantId: string, kept: number): Promise<void> {
  await pool.query(
    `DELETE FROM run_stops WHERE tenant_id = $1 AND id IN (
       SELECT id FROM run_stops WHERE tenant_id = $1 AND finished_at IS NOT NULL
        ORDER BY requested_at DESC, id DESC OFFSET $2)`,
    [tenantId, kept],
  );
}

/** Returns the bulk stop; null if the tenant has none with this id. */
export async function findStop(pool: Pool, tenantId: string, id: string): Promise<StopRow | null> {
  const { rows } = await pool.query<StopRow>(`SELECT ${COLUMNS} FROM run_stops WHERE id = $1 AND tenant_id = $2`, [
    id,
    tenantId,
  ]);
  return rows[0] ?? null;
}

/**
 * Returns the bulk actions of a project, or the bulk stops of a tenant if no project is given, newest first, `limit` of them after the
 * keyset.
 */
export async function listStops(
  pool: Pool,
  tenantId: string,
  { after, limit, projectId }: { after: { at: Date; id: string } | null; limit: number; projectId: string | null },
): Promise<StopRow[]> {
  const { rows } = await pool.query<StopRow>(
    `SELECT ${COLUMNS} FROM run_stops
      WHERE tenant_id = $1 AND ($2::timestamptz IS NULL OR (requested_at, id) < ($2, $3::uuid))
        AND CASE WHEN $5::text IS NULL THEN requester IS NULL
                 ELSE requester IS NOT NULL AND filter->>'project_id' = $5 END
      ORDER BY requested_at DESC, id DESC LIMIT $4`,
    [tenantId, after?.at ?? null, after?.id ?? null, limit, projectId],
  );
  return rows;
}

/** Returns the oldest unfinished bulk stop of each tenant that has one. */
export async function listDueStops(pool: Pool): Promise<StopRow[]> {
  const { rows } = await pool.query<StopRow>({
    name: 'due_run_stops',
    text: `SELECT * FROM (
             SELECT DISTINCT ON (tenant_id) ${COLUMNS} FROM run_stops WHERE finished_at IS NULL
              ORDER BY tenant_id, requested_at, id) due
            ORDER BY due."requestedAt"`,
  });
  return rows;
}

/** Records the time since which scans have found no run; null if the last scan found one. */
export async function noteQuiet(pool: Pool, { id, tenantId }: StopRow, at: Date | null): Promise<void> {
  await pool.query('UPDATE run_stops SET quiet_since = $3 WHERE id = $1 AND tenant_id = $2', [id, tenantId, at]);
}

/**
 * Finishes a bulk stop, unless an equal request has extended it since it was read. Deletes the targets and keeps the
 * counts.
 */
export async function finishStop(pool: Pool, { id, tenantId, matchingUntil }: StopRow, at: Date): Promise<void> {
  await pool.query(
    `WITH finished AS (
       UPDATE run_stops SET finished_at = $3
        WHERE id = $1 AND tenant_id = $2 AND matching_until = $4 AND finished_at IS NULL RETURNING id)
     DELETE FROM run_stop_targets WHERE stop_id IN (SELECT id FROM finished)`,
    [id, tenantId, at, matchingUntil],
  );
}
