import type { Pool } from 'pg';
import type { WorkflowKind } from '../../../operation/workflow-kinds.ts';
import type { Queryable } from '../../../platform/postgres/transaction.ts';
import type { ProjectScope } from '../store.ts';

/** The folder and the tags of a workflow. */
export type Place = { id: string; kind: WorkflowKind; folder: string; tags: string[] };

/** Returns the folders and tags of workflows of the project, and locks the workflows. */
export async function lockPlaces(tx: Queryable, scope: ProjectScope, ids: readonly string[]): Promise<Place[]> {
  const { rows } = await tx.query<Place>(
    `SELECT id, kind, folder, tags FROM workflows
      WHERE tenant_id = $1 AND project_id = $2 AND id = ANY($3::uuid[]) ORDER BY id FOR UPDATE`,
    [scope.tenantId, scope.projectId, ids],
  );
  return rows;
}

/** Stores the folders and tags of workflows, without changing the revision and the time of the draft. */
export async function savePlaces(
  tx: Queryable,
  scope: ProjectScope,
  places: readonly Pick<Place, 'id' | 'folder' | 'tags'>[],
): Promise<void> {
  await tx.query(
    `UPDATE workflows w SET folder = p.folder, tags = ARRAY(SELECT json_array_elements_text(p.tags))
       FROM json_to_recordset($3::json) AS p(id uuid, folder text, tags json)
      WHERE w.tenant_id = $1 AND w.project_id = $2 AND w.id = p.id`,
    [scope.tenantId, scope.projectId, JSON.stringify(places)],
  );
}

/** Returns the workflows in a folder and its subfolders, and locks them. */
export async function lockFolder(
  tx: Queryable,
  scope: ProjectScope,
  kind: WorkflowKind,
  folder: string,
): Promise<Place[]> {
  const { rows } = await tx.query<Place>(
    `SELECT id, kind, folder, tags FROM workflows
      WHERE tenant_id = $1 AND project_id = $2 AND kind = $3 AND (folder = $4 OR starts_with(folder, $4 || '/'))
      ORDER BY id FOR UPDATE`,
    [scope.tenantId, scope.projectId, kind, folder],
  );
  return rows;
}

/** Counts the workflows directly in each folder, without archived ones. */
export async function countFolders(
  pool: Pool,
  scope: ProjectScope,
  kind: WorkflowKind,
): Promise<{ folder: string; count: number }[]> {
  const { rows } = await pool.query<{ folder: string; count: number }>(
    `SELECT folder, count(*)::int AS count FROM workflows
      WHERE tenant_id = $1 AND project_id = $2 AND kind = $3 AND status <> 'archived' AND folder <> '' GROUP BY folder`,
    [scope.tenantId, scope.projectId, kind],
  );
  return rows;
}

/** Counts the workflows of each tag, without archived ones, most used first. */
export async function countTags(
  pool: Pool,
  scope: ProjectScope,
  kind: WorkflowKind,
): Promise<{ tag: string; workflows: number }[]> {
  const { rows } = await pool.query<{ tag: string; workflows: number }>(
    `SELECT tag, count(*)::int AS workflows FROM workflows, unnest(tags) AS tag
      WHERE tenant_id = $1 AND project_id = $2 AND kind = $3 AND status <> 'archived'
      GROUP BY tag ORDER BY workflows DESC, tag COLLATE "C"`,
    [scope.tenantId, scope.projectId, kind],
  );
  return rows;
}
