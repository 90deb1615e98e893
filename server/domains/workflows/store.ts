import type { Pool } from 'pg';
import type { z } from 'zod';
import type { Graph } from '../../orchestrator/core/graph.ts';
import type { RecentRun, RunSetupSchema, WorkflowStatus } from './schemas.ts';

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
    `insert into workflows (id, tenant_id, project_id, name, description, status, graph, run_setup, revision,
       graph_checksum, created_by, created_at, updated_at)
     values ($1, $2, $3, $4, $5, 'draft', $6, $7, 1, $8, $9, $10, $10)
     returning ${columns}`,
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
    `select ${columns} from workflows where id = $1 and tenant_id = $2 and project_id = $3`,
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
    `update workflows
        set name = coalesce($6, name), description = coalesce($7, description),
            graph = coalesce($8::json, graph), graph_checksum = coalesce($9, graph_checksum),
            run_setup = coalesce($10::json, run_setup), revision = revision + 1, updated_at = $5
      where id = $1 and tenant_id = $2 and project_id = $3 and status <> 'archived'
        and ($4::int is null or revision = $4)
      returning ${columns}`,
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
    `with archived as (
       update workflows
          set updated_at = case when status = 'archived' then updated_at else $4 end, status = 'archived'
        where id = $1 and tenant_id = $2 and project_id = $3
       returning id),
     silenced as (
       update webhook_subscriptions set enabled = false, updated_at = $4
        where workflow_id in (select id from archived) and enabled)
     select id from archived`,
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
    `with page as (
       select ${columns} from workflows
        where tenant_id = $1 and project_id = $2
          and (case when $3::text is null then status <> 'archived' else status = $3 end)
          and ($4::text is null or name ilike $5 or description ilike $5 or id::text = lower($4))
          and ($6::timestamptz is null or (created_at, id) < ($6, $7::uuid))
        order by created_at desc, id desc limit $8)
     select page.*, coalesce(recent.runs, '[]'::json) as recent_runs
       from page left join lateral (
         select json_agg(json_build_object('run_id', id, 'status', status,
                  'started_at', to_char(started_at at time zone 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.MS"Z"'),
                  'ended_at', to_char(ended_at at time zone 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.MS"Z"'))
                  order by started_at desc, id desc) as runs
           from (select id, status, started_at, ended_at from runs
                  where workflow_id = page.id and tenant_id = $1
                  order by started_at desc, id desc limit 20) last_runs) recent on true
      order by page.created_at desc, page.id desc`,
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
