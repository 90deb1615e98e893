import type { Pool } from 'pg';
import type { Graph } from '../../../../orchestrator/core/graph.ts';
import type { ProjectScope, RunSetup } from '../../store.ts';

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
 * Publishes the draft at `revision` under the next number; null where the workflow is missing, archived or was changed
 * since. One statement: the row lock of the update gives concurrent publishes different numbers.
 */
export async function insertVersion(
  pool: Pool,
  ref: ProjectScope & { id: string; revision: number },
  published: { changelog: string; by: string; at: Date },
): Promise<VersionRow | null> {
  const { rows } = await pool.query<VersionRow>(
    `WITH draft AS (
       UPDATE workflows
          SET latest_version = coalesce(latest_version, 0) + 1, status = 'published', updated_at = $5
        WHERE id = $1 AND tenant_id = $2 AND project_id = $3 AND status <> 'archived' AND revision = $4
        RETURNING id, tenant_id, latest_version, graph, run_setup, graph_checksum),
     v AS (
       INSERT INTO workflow_versions (workflow_id, version, tenant_id, graph_snapshot, run_setup, changelog,
         graph_checksum, published_by, published_at)
       SELECT id, latest_version, tenant_id, graph, run_setup, $6, graph_checksum, $7::uuid, $5 FROM draft
       RETURNING *)
     SELECT ${columns} FROM v LEFT JOIN users u ON u.id = v.published_by`,
    [ref.id, ref.tenantId, ref.projectId, ref.revision, published.at, published.changelog, published.by],
  );
  return rows[0] ?? null;
}

/** Newest first; `before` is the number after which the page begins. */
export async function listVersions(
  pool: Pool,
  tenantId: string,
  workflowId: string,
  page: { before: number | null; limit: number },
): Promise<VersionRow[]> {
  const { rows } = await pool.query<VersionRow>(
    `SELECT ${columns} FROM workflow_versions v LEFT JOIN users u ON u.id = v.published_by
      WHERE v.tenant_id = $1 AND v.workflow_id = $2 AND ($3::int IS NULL OR v.version < $3)
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
