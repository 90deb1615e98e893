import type { Pool } from 'pg';
import type { z } from 'zod';
import type { Graph } from '../../../orchestrator/core/graph.ts';
import type { RecentRun, RunSetupSchema, WorkflowStatus } from '../schemas.ts';

export type RunSetup = z.output<typeof RunSetupSchema>;
type Status = z.output<typeof WorkflowStatus>;

/** Where a workflow must be for the caller to see it. */
export type ProjectScope = { tenantId: string; projectId: string };

export type WorkflowRow = {
  id: string;
  tenant_id: string;
  project_id: string;
  name: string;
  description: string;
  status: Status;
  graph: Graph;
  run_setup: RunSetup;
  revision: number;
  latest_version: number | null;
  graph_checksum: string;
  created_at: Date;
  updated_at: Date;
};
export type WorkflowListRow = WorkflowRow & { recent_runs: z.output<typeof RecentRun>[] };

const columns = `id, tenant_id, project_id, name, description, status, graph, run_setup, revision, latest_version,
  graph_checksum, created_at, updated_at`;

/** Inserts a draft. */
export async function insertWorkflow(
  pool: Pool,
  row: {
    id: string;
    scope: ProjectScope;
    name: string;
    description: string;
    graph: unknown;
    runSetup: unknown;
    graphChecksum: string;
    createdBy: string;
    at: Date;
  },
): Promise<WorkflowRow> {
  const { rows } = await pool.query<WorkflowRow>(
    `INSERT INTO workflows (id, tenant_id, project_id, name, description, status, graph, run_setup, revision,
       graph_checksum, created_by, created_at, updated_at)
     VALUES ($1, $2, $3, $4, $5, 'draft', $6, $7, 1, $8, $9, $10, $10)
     RETURNING ${columns}`,
    [
      row.id,
      row.scope.tenantId,
      row.scope.projectId,
      row.name,
      row.description,
      JSON.stringify(row.graph),
      JSON.stringify(row.runSetup),
      row.graphChecksum,
      row.createdBy,
      row.at,
    ],
  );
  return only(rows);
}

/** The workflow, or null where this project has none of that id. */
export async function findWorkflow(pool: Pool, scope: ProjectScope, id: string): Promise<WorkflowRow | null> {
  const { rows } = await pool.query<WorkflowRow>(
    `SELECT ${columns} FROM workflows WHERE id = $1 AND tenant_id = $2 AND project_id = $3`,
    [id, scope.tenantId, scope.projectId],
  );
  return rows[0] ?? null;
}

export type DraftChange = {
  name?: string | undefined;
  description?: string | undefined;
  graph?: { value: unknown; checksum: string } | undefined;
  runSetup?: unknown;
};

/**
 * Changes the draft in one statement; null where the workflow is missing, archived or not at `revision` any more
 * (the caller looks which).
 */
export async function updateDraft(
  pool: Pool,
  ref: ProjectScope & { id: string; revision: number | null; at: Date },
  change: DraftChange,
): Promise<WorkflowRow | null> {
  const { rows } = await pool.query<WorkflowRow>(
    `UPDATE workflows
        SET name = coalesce($6, name), description = coalesce($7, description),
            graph = coalesce($8::json, graph), graph_checksum = coalesce($9, graph_checksum),
            run_setup = coalesce($10::json, run_setup), revision = revision + 1, updated_at = $5
      WHERE id = $1 AND tenant_id = $2 AND project_id = $3 AND status <> 'archived'
        AND ($4::int IS NULL OR revision = $4)
      RETURNING ${columns}`,
    [
      ref.id,
      ref.tenantId,
      ref.projectId,
      ref.revision,
      ref.at,
      change.name ?? null,
      change.description ?? null,
      change.graph === undefined ? null : JSON.stringify(change.graph.value),
      change.graph?.checksum ?? null,
      change.runSetup === undefined ? null : JSON.stringify(change.runSetup),
    ],
  );
  return rows[0] ?? null;
}

/** Archives, and switches its webhooks off; false where there is no such workflow. Archiving twice keeps the first time. */
export async function archiveWorkflow(pool: Pool, scope: ProjectScope, id: string, at: Date): Promise<boolean> {
  const { rowCount } = await pool.query(
    `WITH archived AS (
       UPDATE workflows
          SET updated_at = CASE WHEN status = 'archived' THEN updated_at ELSE $4 END, status = 'archived'
        WHERE id = $1 AND tenant_id = $2 AND project_id = $3
       RETURNING id),
     silenced AS (
       UPDATE webhook_subscriptions SET enabled = false, updated_at = $4
        WHERE workflow_id IN (SELECT id FROM archived) AND enabled)
     SELECT id FROM archived`,
    [id, scope.tenantId, scope.projectId, at],
  );
  return rowCount === 1;
}

export type WorkflowFilter = {
  status?: Status | undefined;
  q?: string | undefined;
  after: { at: Date; id: string } | null;
  limit: number;
};

/** Newest first, each with its last 20 runs (one lateral query for the page, on the index (workflow_id, started_at, id)). */
export async function listWorkflows(
  pool: Pool,
  scope: ProjectScope,
  filter: WorkflowFilter,
): Promise<WorkflowListRow[]> {
  const { rows } = await pool.query<WorkflowListRow>(
    `WITH page AS (
       SELECT ${columns} FROM workflows
        WHERE tenant_id = $1 AND project_id = $2
          AND (CASE WHEN $3::text IS NULL THEN status <> 'archived' ELSE status = $3 END)
          AND ($4::text IS NULL OR name ILIKE $5 OR description ILIKE $5 OR id::text = lower($4))
          AND ($6::timestamptz IS NULL OR (created_at, id) < ($6, $7::uuid))
        ORDER BY created_at DESC, id DESC LIMIT $8)
     SELECT page.*, coalesce(recent.runs, '[]'::json) AS recent_runs
       FROM page LEFT JOIN LATERAL (
         SELECT json_agg(json_build_object('run_id', id, 'status', status,
                  'started_at', to_char(started_at AT TIME ZONE 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.MS"Z"'),
                  'ended_at', to_char(ended_at AT TIME ZONE 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.MS"Z"'))
                  ORDER BY started_at DESC, id DESC) AS runs
           FROM (SELECT id, status, started_at, ended_at FROM runs
                  WHERE workflow_id = page.id AND tenant_id = $1
                  ORDER BY started_at DESC, id DESC LIMIT 20) last_runs) recent ON true
      ORDER BY page.created_at DESC, page.id DESC`,
    [
      scope.tenantId,
      scope.projectId,
      filter.status ?? null,
      filter.q ?? null,
      filter.q === undefined ? null : `%${filter.q.replace(/[\\%_]/g, '\\$&')}%`,
      filter.after?.at ?? null,
      filter.after?.id ?? null,
      filter.limit,
    ],
  );
  return rows;
}

function only<T>(rows: T[]): T {
  const [row] = rows;
  if (row === undefined) throw new Error('The statement returned no row.');
  return row;
}
