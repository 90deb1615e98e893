import type { Queryable } from '../../platform/postgres/transaction.ts';

/** The person and the project of the views. */
export type Person = { tenantId: string; projectId: string; userId: string };

export type ViewRow = {
  id: string;
  owner_id: string;
  name: string;
  shared: boolean;
  filters: Record<string, string>;
  columns: string[];
  updated_at: Date;
  is_default: boolean;
};

const SELECT = `SELECT v.id, v.owner_id, v.name, v.shared, v.filters, v.columns, v.updated_at, d.view_id IS NOT NULL AS is_default
  FROM run_views v LEFT JOIN run_view_defaults d ON d.view_id = v.id AND d.project_id = v.project_id AND d.user_id = $3
 WHERE v.tenant_id = $1 AND v.project_id = $2 AND (v.owner_id = $3 OR v.shared)`;

const scopeOf = ({ tenantId, projectId, userId }: Person) => [tenantId, projectId, userId];

/** Returns the views of a project that a person sees: the person's own, and shared ones. */
export async function listViews(db: Queryable, person: Person): Promise<ViewRow[]> {
  const { rows } = await db.query<ViewRow>(`${SELECT} ORDER BY lower(v.name), v.id`, scopeOf(person));
  return rows;
}

/** Returns a view that the person sees, and locks it; null if the person sees no view with this id. */
export async function lockView(tx: Queryable, person: Person, id: string): Promise<ViewRow | null> {
  const { rows } = await tx.query<ViewRow>(`${SELECT} AND v.id = $4 FOR UPDATE OF v`, [...scopeOf(person), id]);
  return rows[0] ?? null;
}

/**
 * Inserts a view. Returns false if the person has `max` views in the project already. Locks the person's row, so that concurrent requests
 * cannot exceed `max`.
 */
export async function insertView(
  tx: Queryable,
  { tenantId, projectId, userId }: Person,
  view: { id: string; name: string; shared: boolean; filters: unknown; columns: readonly string[]; at: Date },
  max: number,
): Promise<boolean> {
  await tx.query('SELECT 1 FROM memberships WHERE tenant_id = $1 AND user_id = $2 FOR UPDATE', [tenantId, userId]);
  const { rowCount } = await tx.query(
    `INSERT INTO run_views (id, tenant_id, project_id, owner_id, name, shared, filters, columns, created_at, updated_at)
     SELECT $4, $1, $2, $3, $5, $6, $7, $8, $9, $9
      WHERE (SELECT count(*) FROM run_views WHERE tenant_id = $1 AND project_id = $2 AND owner_id = $3) < $10`,
    [
      ...[tenantId, projectId, userId, view.id, view.name, view.shared],
      ...[JSON.stringify(view.filters), view.columns, view.at, max],
    ],
  );
  return rowCount === 1;
}

/** Changes the given fields of a view. */
export async function updateView(
  tx: Queryable,
  { tenantId, projectId }: Person,
  id: string,
  change: {
    name?: string | undefined;
    shared?: boolean | undefined;
    filters?: unknown;
    columns?: string[] | undefined;
  },
  at: Date,
): Promise<void> {
  await tx.query(
    `UPDATE run_views SET name = coalesce($4, name), shared = coalesce($5, shared), filters = coalesce($6, filters),
            columns = coalesce($7, columns), updated_at = $8
      WHERE tenant_id = $1 AND project_id = $2 AND id = $3`,
    [
      ...[tenantId, projectId, id, change.name ?? null, change.shared ?? null],
      ...[change.filters === undefined ? null : JSON.stringify(change.filters), change.columns ?? null, at],
    ],
  );
}

/** Sets or clears the view with which the project's list opens for the person. */
export async function setDefault(tx: Queryable, person: Person, id: string, isDefault: boolean): Promise<void> {
  if (isDefault)
    await tx.query(
      `INSERT INTO run_view_defaults (tenant_id, project_id, user_id, view_id) VALUES ($1, $2, $3, $4)
       ON CONFLICT (project_id, user_id) DO UPDATE SET view_id = excluded.view_id`,
      [...scopeOf(person), id],
    );
  else
    await tx.query(
      'DELETE FROM run_view_defaults WHERE tenant_id = $1 AND project_id = $2 AND user_id = $3 AND view_id = $4',
      [...scopeOf(person), id],
    );
}

/** Removes a view that is no longer shared from the defaults of everybody except its owner. */
export async function clearOthersDefaults(
  tx: Queryable,
  { tenantId }: Person,
  id: string,
  owner: string,
): Promise<void> {
  await tx.query('DELETE FROM run_view_defaults WHERE tenant_id = $1 AND view_id = $2 AND user_id <> $3', [
    tenantId,
    id,
    owner,
  ]);
}

/** Deletes a view. */
export async function deleteView(tx: Queryable, { tenantId, projectId }: Person, id: string): Promise<void> {
  await tx.query('DELETE FROM run_views WHERE tenant_id = $1 AND project_id = $2 AND id = $3', [
    tenantId,
    projectId,
    id,
  ]);
}
