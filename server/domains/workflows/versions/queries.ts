import type { Pool } from 'pg';
import type { Graph } from '../../../orchestrator/core/graph.ts';
import type { Queryable } from '../../../platform/postgres/transaction.ts';
import type { ProjectScope, RunSetup } from '../store.ts';

export type VersionRow = {
  version: number;
  workflow_id: string;
  published_at: Date;
  published_by: string;
  changelog: string;
  graph_checksum: string;
  graph_snapshot: Graph;
  run_setup: RunSetup;
};

const columns = `v.version, v.workflow_id, v.published_at, coalesce(u.email, v.published_by::text) AS published_by,
  v.changelog, v.graph_checksum, v.graph_snapshot, v.run_setup`;

/**
 * SQL: the run setup without pinned results, which are only for tests of the draft. The json functions copy its text
 * exactly; jsonb would change numbers.
 */
const PUBLISHED_SETUP = `CASE WHEN run_setup->'pinned_results' IS NULL THEN run_setup ELSE (
         SELECT coalesce(json_object_agg(key, value), '{}') FROM json_each(run_setup) WHERE key <> 'pinned_results') END`;

/**
 * Publishes the draft at `revision` under the next number. Returns null if the workflow does not exist, is archived, or
 * has changed since. One statement: the row lock of the update gives concurrent publishes different numbers.
 */
export async function insertVersion(
  db: Queryable,
  ref: ProjectScope & { id: string; revision: number },
  published: { changelog: string; by: string; at: Date },
): Promise<VersionRow | null> {
  const { rows } = await db.query<VersionRow>(
    `WITH draft AS (
       UPDATE workflows
          SET latest_version = coalesce(latest_version, 0) + 1, status = 'published', updated_at = $5
        WHERE id = $1 AND tenant_id = $2 AND project_id = $3 AND status <> 'archived' AND revision = $4
        RETURNING id, tenant_id, latest_version, graph, run_setup, graph_checksum),
     v AS (
       INSERT INTO workflow_versions (workflow_id, version, tenant_id, graph_snapshot, run_setup, changelog,
         graph_checksum, published_by, published_at)
       SELECT id, latest_version, tenant_id, graph, ${PUBLISHED_SETUP}, $6, graph_checksum, $7::uuid, $5 FROM draft
       RETURNING *)
     SELECT ${columns} FROM v LEFT JOIN users u ON u.id = v.published_by`,
    [ref.id, ref.tenantId, ref.projectId, ref.revision, published.at, published.changelog, published.by],
  );
  return rows[0] ?? null;
}

/**
 * Stores a graph as a snapshot for test runs: a version with a negative number, which no list shows. Returns its
 * number. If an equal snapshot exists, returns its number and records this time as its last use. Returns null if a
 * concurrent caller took the next number first.
 */
export async function insertTestVersion(
  pool: Pool,
  ref: { tenantId: string; id: string },
  snapshot: { graph: unknown; runSetup: unknown; checksum: string; by: string; at: Date },
): Promise<number | null> {
  const { rows } = await pool.query<{ version: number }>(
    `WITH tests AS MATERIALIZED (
       SELECT version, graph_checksum, run_setup FROM workflow_versions
        WHERE workflow_id = $1 AND tenant_id = $2 AND version < 0),
     equal AS (
       UPDATE workflow_versions v SET published_at = greatest(v.published_at, $7)
        WHERE v.workflow_id = $1 AND v.version = (
          SELECT version FROM tests WHERE graph_checksum = $5 AND run_setup::jsonb = $4::jsonb LIMIT 1)
       RETURNING v.version),
     inserted AS (
       INSERT INTO workflow_versions (workflow_id, version, tenant_id, graph_snapshot, run_setup, changelog,
         graph_checksum, published_by, published_at)
       SELECT $1, (SELECT coalesce(min(version), 0) - 1 FROM tests), $2, $3::json, $4::json, '', $5, $6::uuid, $7
        WHERE NOT EXISTS (SELECT FROM equal)
       ON CONFLICT DO NOTHING RETURNING version)
     SELECT version FROM equal UNION ALL SELECT version FROM inserted`,
    [
      ref.id,
      ref.tenantId,
      JSON.stringify(snapshot.graph),
      JSON.stringify(snapshot.runSetup),
      snapshot.checksum,
      snapshot.by,
      snapshot.at,
    ],
  );
  return rows[0]?.version ?? null;
}

/** Returns versions, newest first; the page begins after the number `before`. */
export async function listVersions(
  pool: Pool,
  tenantId: string,
  workflowId: string,
  page: { before: number | null; limit: number },
): Promise<VersionRow[]> {
  const { rows } = await pool.query<VersionRow>(
    `SELECT ${columns} FROM workflow_versions v LEFT JOIN users u ON u.id = v.published_by
      WHERE v.tenant_id = $1 AND v.workflow_id = $2 AND v.version > 0 AND ($3::int IS NULL OR v.version < $3)
      ORDER BY v.version DESC LIMIT $4`,
    [tenantId, workflowId, page.before, page.limit],
  );
  return rows;
}

export async function findVersion(
  pool: Pool,
  tenantId: string,
  workflowId: string,
  version: number,
): Promise<VersionRow | null> {
  const { rows } = await pool.query<VersionRow>(
    `SELECT ${columns} FROM workflow_versions v LEFT JOIN users u ON u.id = v.published_by
      WHERE v.tenant_id = $1 AND v.workflow_id = $2 AND v.version = $3`,
    [tenantId, workflowId, version],
  );
  return rows[0] ?? null;
}
