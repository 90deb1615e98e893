import type { Pool } from 'pg';
import type { z } from 'zod';
import type { WorkflowKind } from '../../operation/workflow-kinds.ts';
import { withInnerSteps } from '../../orchestrator/steps/graph-queries.ts';
import { escapeLike } from '../../platform/postgres/prisma.ts';
import type { RecentRun } from './schemas.ts';
import type { ProjectScope, WorkflowRow, WorkflowState } from './store.ts';

export type WorkflowListRow = Omit<WorkflowRow, 'graph' | 'runSetup'> & {
  /** `graph` and `runSetup` are null if the list was requested without graphs. */
  graph: WorkflowRow['graph'] | null;
  runSetup: WorkflowRow['runSetup'] | null;
  stepsTotal: number;
  recentRuns: z.output<typeof RecentRun>[];
  /** Whether the draft's graph differs from the graph of the latest version. */
  unpublishedChanges: boolean;
};

const columns = `id, tenant_id AS "tenantId", project_id AS "projectId", name, description, status, revision, latest_version AS "latestVersion", graph_checksum AS "graphChecksum", kind, folder, tags,
  created_by AS "createdBy", created_at AS "createdAt", updated_at AS "updatedAt"`;

/** SQL: the fields of a `RecentRun`, selected from `runs`, for json_build_object. */
export const RECENT_RUN = `'run_id', id, 'status', status,
                  'orchestration_phase', orchestration_phase, 'pending_tasks', pending_tasks,
                  'started_at', to_char(started_at AT TIME ZONE 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.MS"Z"'),
                  'ended_at', to_char(ended_at AT TIME ZONE 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.MS"Z"')`;

/**
 * Archives a workflow, and disables its webhooks. Returns false if there is no workflow of this kind. Archiving it
 * twice keeps the first time.
 */
export async function archiveWorkflow(
  pool: Pool,
  scope: ProjectScope,
  { id, kind, at }: { id: string; kind: WorkflowKind; at: Date },
): Promise<boolean> {
  const { rowCount } = await pool.query(
    `WITH archived AS (
       UPDATE workflows
          SET updated_at = CASE WHEN status = 'archived' THEN updated_at ELSE $4 END, status = 'archived'
        WHERE id = $1 AND tenant_id = $2 AND project_id = $3 AND kind = $5
       RETURNING id),
     silenced AS (
       UPDATE webhook_subscriptions SET enabled = false, updated_at = $4
        WHERE workflow_id IN (SELECT id FROM archived) AND enabled)
     SELECT id FROM archived`,
    [id, scope.tenantId, scope.projectId, at, kind],
  );
  return rowCount === 1;
}

export type WorkflowFilter = {
  kind: WorkflowKind;
  status?: WorkflowState | undefined;
  q?: string | undefined;
  /** Selects workflows in this folder and its subfolders. */
  folder?: string | undefined;
  /** Selects workflows that have all of these tags. */
  tags?: readonly string[] | undefined;
  after: { at: Date; id: string } | null;
  limit: number;
  /** Whether the rows contain graphs and run setups. */
  graphs: boolean;
};

/**
 * Returns workflows, newest first, each with its last 20 runs (one lateral query for the page, on the index
 * (workflow_id, started_at, id)).
 */
export async function listWorkflows(
  pool: Pool,
  scope: ProjectScope,
  filter: WorkflowFilter,
): Promise<WorkflowListRow[]> {
  const { rows } = await pool.query<WorkflowListRow>(
    `WITH page AS (
       SELECT ${columns}, CASE WHEN $9 THEN graph END AS graph, CASE WHEN $9 THEN run_setup END AS "runSetup",
              json_array_length(graph->'steps') AS "stepsTotal"
         FROM workflows
        WHERE tenant_id = $1 AND project_id = $2 AND kind = $10
          AND (CASE WHEN $3::text IS NULL THEN status <> 'archived' ELSE status = $3 END)
          AND ($4::text IS NULL OR name ILIKE $5 OR description ILIKE $5 OR folder ILIKE $5
               OR array_to_string(tags, ',') ILIKE $5 OR id::text = lower($4))
          AND ($11::text IS NULL OR folder = $11 OR starts_with(folder, $11 || '/'))
          AND ($12::text[] IS NULL OR tags @> $12)
          AND ($6::timestamptz IS NULL OR (created_at, id) < ($6, $7::uuid))
        ORDER BY created_at DESC, id DESC LIMIT $8)
     SELECT page.*, coalesce(recent.runs, '[]'::json) AS "recentRuns",
            coalesce(page.status = 'published' AND page."graphChecksum" <> (
              SELECT graph_checksum FROM workflow_versions
               WHERE workflow_id = page.id AND version = page."latestVersion"), false) AS "unpublishedChanges"
       FROM page LEFT JOIN LATERAL (
         SELECT json_agg(json_build_object(${RECENT_RUN}) ORDER BY started_at DESC, id DESC) AS runs
           FROM (SELECT id, status, orchestration_phase, pending_tasks, started_at, ended_at FROM runs
                  WHERE workflow_id = page.id AND tenant_id = $1 AND version > 0
                  ORDER BY started_at DESC, id DESC LIMIT 20) last_runs) recent ON true
      ORDER BY page."createdAt" DESC, page.id DESC`,
    [
      scope.tenantId,
      scope.projectId,
      filter.status ?? null,
      filter.q ?? null,
      filter.q === undefined ? null : `%${escapeLike(filter.q)}%`,
      filter.after?.at ?? null,
      filter.after?.id ?? null,
      filter.limit,
      filter.graphs,
      filter.kind,
      filter.folder ?? null,
      filter.tags ?? null,
    ],
  );
  return rows;
}

/**
 * Returns the SQL of two tables. `candidate`: at most 1,000 workflows of a project whose draft or latest version has the text of an id, so that
 * only few graphs are parsed. `found`: each of their steps, also in a loop, and whether the latest version has the step or the draft.
 */
export const stepsNaming = ({
  tenantId,
  projectId,
  id,
}: {
  tenantId: string;
  projectId: string;
  id: string;
}): string => `
  WITH candidate AS MATERIALIZED (
    SELECT w.id, w.name, w.graph AS draft, v.graph_snapshot AS version
      FROM workflows w
      LEFT JOIN workflow_versions v ON v.workflow_id = w.id AND v.version = w.latest_version AND v.tenant_id = w.tenant_id
     WHERE w.tenant_id = ${tenantId} AND w.project_id = ${projectId} AND w.status <> 'archived' AND w.id::text <> ${id}
       AND (strpos(w.graph::text, ${id}) > 0 OR strpos(v.graph_snapshot::text, ${id}) > 0)
     ORDER BY w.id LIMIT 1000),
  found AS (
    ${withInnerSteps(
      `SELECT c.id, g.published, json_array_elements(g.graph->'steps')
         FROM candidate c CROSS JOIN LATERAL (VALUES (false, c.draft), (true, c.version)) g(published, graph)
        WHERE json_typeof(g.graph->'steps') = 'array'`,
      ['id', 'published'],
    )}
    SELECT * FROM steps)`;
