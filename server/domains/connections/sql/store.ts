import type { Pool } from 'pg';
import type { TimeIdKey } from '../../../contract/cursor.ts';
import type { JsonObject } from '../../../platform/json.ts';
import type { ConnectionStatus } from '../schemas.ts';

/** A connection of one tenant, whichever project it belongs to. */
export type ConnectionKey = { tenantId: string; connectionId: string };
/** A connection as a project sees it: one that belongs to another project is not there. */
export type ConnectionRef = ConnectionKey & { projectId: string };

export type ConnectionRow = {
  id: string;
  tenant_id: string;
  /** Null: shared with the whole workspace. */
  project_id: string | null;
  name: string;
  provider: string;
  service: string;
  status: ConnectionStatus;
  credential_keys: string[];
  config: JsonObject;
  account: JsonObject | null;
  last_error: string | null;
  /** Where its credentials may be sent; none: not bound yet (origins.ts). */
  origins: string[];
  /** Who entered every secret that it holds now; null: several did, or nobody knows. */
  secret_set_by: string | null;
  /** Where its refresh token may be sent; null: not bound yet. */
  token_origin: string | null;
  expires_at: Date | null;
  rotated_at: Date;
  last_used_at: Date | null;
  created_by: string;
  created_at: Date;
  updated_at: Date;
};
export type CountedRow = ConnectionRow & { used_by: number };

const columns = `id, tenant_id, project_id, name, provider, service, status, credential_keys, config, account, last_error,
  origins, secret_set_by, token_origin, expires_at, rotated_at, last_used_at, created_by, created_at, updated_at`;
/**
 * A row is there before its secret and goes after it, so that no secret is ever without a row that leads to it. Meanwhile it is
 * `pending` or `deleting`, and nobody sees it.
 */
const visible = `status NOT IN ('pending', 'deleting')`;
/** The project's own and the workspace's; `project` is the parameter's number. */
const seenBy = (project: string) => `(project_id IS NULL OR project_id = ${project})`;
const counted = `${columns},
  (SELECT count(*) FROM mcp_instances i WHERE i.connection_id = c.id AND i.tenant_id = c.tenant_id)::int
  + (SELECT count(*) FROM mcp_config_profiles p WHERE p.connection_id = c.id AND p.tenant_id = c.tenant_id)::int AS used_by`;

/** Inserts a row that nobody sees yet. `createdBy` stored its secret. */
export async function insertPending(
  pool: Pool,
  row: {
    ref: ConnectionKey;
    /** Null: the whole workspace's. */
    projectId: string | null;
    name: string;
    provider: string;
    service: string;
    config: unknown;
    account: unknown;
    origins: readonly string[];
    tokenOrigin: string | null;
    createdBy: string;
    at: Date;
  },
): Promise<void> {
  await pool.query(
    `INSERT INTO connections (id, tenant_id, name, provider, service, status, credential_keys, config, account,
       rotated_at, created_by, secret_set_by, created_at, updated_at, project_id, origins, token_origin)
     VALUES ($1, $2, $3, $4, $5, 'pending', '{}', $6, $7, $9, $8, $8, $9, $9, $10, $11, $12)`,
    [
      row.ref.connectionId,
      row.ref.tenantId,
      row.name,
      row.provider,
      row.service,
      JSON.stringify(row.config),
      row.account === null ? null : JSON.stringify(row.account),
      row.createdBy,
      row.at,
      row.projectId,
      row.origins,
      row.tokenOrigin,
    ],
  );
}

export type SecretFacts = { keys: readonly string[]; expiresAt: Date | null; rotatedAt: Date };

/** Shows a pending row, whose secret is there now. */
export async function activate(pool: Pool, ref: ConnectionKey, facts: SecretFacts): Promise<ConnectionRow> {
  const { rows } = await pool.query<ConnectionRow>(
    `UPDATE connections SET status = 'active', credential_keys = $3, expires_at = $4, rotated_at = $5
     WHERE id = $1 AND tenant_id = $2 AND status = 'pending' RETURNING ${columns}`,
    [ref.connectionId, ref.tenantId, facts.keys, facts.expiresAt, facts.rotatedAt],
  );
  const [row] = rows;
  if (row === undefined) throw new Error('A pending connection is gone.');
  return row;
}

/** The connection, or null where the project sees none of that id. */
export async function findConnection(pool: Pool, ref: ConnectionRef): Promise<ConnectionRow | null> {
  const { rows } = await pool.query<ConnectionRow>(
    `SELECT ${columns} FROM connections WHERE id = $1 AND tenant_id = $2 AND ${seenBy('$3')} AND ${visible}`,
    [ref.connectionId, ref.tenantId, ref.projectId],
  );
  return rows[0] ?? null;
}

/** The same with the number of instances and profiles that use it. */
export async function findCounted(pool: Pool, ref: ConnectionRef): Promise<CountedRow | null> {
  const { rows } = await pool.query<CountedRow>(
    `SELECT ${counted} FROM connections c WHERE id = $1 AND tenant_id = $2 AND ${seenBy('$3')} AND ${visible}`,
    [ref.connectionId, ref.tenantId, ref.projectId],
  );
  return rows[0] ?? null;
}

export type ConnectionFilter = {
  provider?: string | undefined;
  service?: string | undefined;
  status?: string | undefined;
  q?: string | undefined;
};

/** What the project sees, newest first, at most `take`, after the keyset where one is given. */
export async function listCounted(
  pool: Pool,
  { tenantId, projectId }: Pick<ConnectionRef, 'tenantId' | 'projectId'>,
  filter: ConnectionFilter,
  after: TimeIdKey | null,
  take: number,
): Promise<CountedRow[]> {
  const { rows } = await pool.query<CountedRow>(
    `SELECT ${counted} FROM connections c
     WHERE tenant_id = $1 AND ${seenBy('$10')} AND ${visible}
       AND ($2::text IS NULL OR provider = $2) AND ($3::text IS NULL OR service = $3) AND ($4::text IS NULL OR status = $4)
       AND ($5::text IS NULL OR name ILIKE $6 OR provider ILIKE $6 OR service ILIKE $6 OR id::text = lower($5))
       AND ($7::timestamptz IS NULL OR (created_at, id) < ($7, $8::uuid))
     ORDER BY created_at DESC, id DESC LIMIT $9`,
    [
      tenantId,
      filter.provider ?? null,
      filter.service ?? null,
      filter.status ?? null,
      filter.q ?? null,
      filter.q === undefined ? null : `%${filter.q.replace(/[\\%_]/g, '\\$&')}%`,
      after && new Date(after[0]),
      after?.[1],
      take,
      projectId,
    ],
  );
  return rows;
}

export type ConnectionChange = {
  name?: string | undefined;
  config?: unknown;
  account?: unknown;
  /** The secret was written anew. */
  secret?: SecretFacts | undefined;
  status?: ConnectionStatus | undefined;
  /** Null clears it. */
  lastError?: string | null | undefined;
  /** Null: unknown. Given apart from `secret` where a token is only to be fetched anew. */
  expiresAt?: Date | null | undefined;
  origins?: readonly string[] | undefined;
  /** Null: several people entered its secrets. */
  secretSetBy?: string | null | undefined;
  tokenOrigin?: string | undefined;
  /** Null: shared with the whole workspace. */
  projectId?: string | null | undefined;
};

/** Changes what is given, if `rotated_at` still is what the caller read; null where it is not, or the row is gone. */
export async function updateConnection(
  pool: Pool,
  ref: ConnectionKey & { rotatedAt: Date; at: Date },
  change: ConnectionChange,
): Promise<ConnectionRow | null> {
  const expiresAt = change.secret === undefined ? change.expiresAt : change.secret.expiresAt;
  const { rows } = await pool.query<ConnectionRow>(
    `UPDATE connections SET updated_at = $4,
       name = coalesce($5, name), config = coalesce($6::json, config), account = coalesce($7::json, account),
       credential_keys = coalesce($8::text[], credential_keys), rotated_at = coalesce($9::timestamptz, rotated_at),
       status = coalesce($10, status), last_error = CASE WHEN $11 THEN $12 ELSE last_error END,
       expires_at = CASE WHEN $13 THEN $14::timestamptz ELSE expires_at END,
       origins = coalesce($15::text[], origins), token_origin = coalesce($16, token_origin),
       secret_set_by = CASE WHEN $17 THEN $18::uuid ELSE secret_set_by END,
       project_id = CASE WHEN $19 THEN $20::uuid ELSE project_id END
     WHERE id = $1 AND tenant_id = $2 AND rotated_at = $3 AND ${visible} RETURNING ${columns}`,
    [
      ref.connectionId,
      ref.tenantId,
      ref.rotatedAt,
      ref.at,
      change.name ?? null,
      change.config === undefined ? null : JSON.stringify(change.config),
      change.account === undefined ? null : JSON.stringify(change.account),
      change.secret?.keys ?? null,
      change.secret?.rotatedAt ?? null,
      change.status ?? null,
      change.lastError !== undefined,
      change.lastError ?? null,
      expiresAt !== undefined,
      expiresAt ?? null,
      change.origins ?? null,
      change.tokenOrigin ?? null,
      change.secretSetBy !== undefined,
      change.secretSetBy ?? null,
      change.projectId !== undefined,
      change.projectId ?? null,
    ],
  );
  return rows[0] ?? null;
}

/** Binds the credentials to their first origin, if `setBy` stored them and nobody was faster; returns whether that was done. */
export async function bindFirstOrigin(
  pool: Pool,
  ref: ConnectionRef,
  { origin, setBy }: { origin: string; setBy: string },
): Promise<boolean> {
  const { rowCount } = await pool.query(
    `UPDATE connections SET origins = ARRAY[$4::text]
     WHERE id = $1 AND tenant_id = $2 AND ${seenBy('$3')} AND ${visible} AND origins = '{}' AND secret_set_by = $5`,
    [ref.connectionId, ref.tenantId, ref.projectId, origin, setBy],
  );
  return rowCount === 1;
}

/** Notes a use. The caller does so once a minute, not at each. */
export async function touchConnection(pool: Pool, ref: ConnectionKey, at: Date): Promise<void> {
  await pool.query('UPDATE connections SET last_used_at = $3 WHERE id = $1 AND tenant_id = $2', [
    ref.connectionId,
    ref.tenantId,
    at,
  ]);
}

/** Hides a row that is about to go; false where it is gone. */
export async function hideConnection(pool: Pool, ref: ConnectionKey): Promise<boolean> {
  const { rowCount } = await pool.query(
    `UPDATE connections SET status = 'deleting' WHERE id = $1 AND tenant_id = $2 AND ${visible}`,
    [ref.connectionId, ref.tenantId],
  );
  return rowCount === 1;
}

/** Takes `hideConnection` back. */
export async function showConnection(pool: Pool, ref: ConnectionKey, status: ConnectionStatus): Promise<void> {
  await pool.query(`UPDATE connections SET status = $3 WHERE id = $1 AND tenant_id = $2 AND status = 'deleting'`, [
    ref.connectionId,
    ref.tenantId,
    status,
  ]);
}

/** Deletes a row that nobody sees; what it was bound to is bound to nothing then. */
export async function deleteHidden(pool: Pool, ref: ConnectionKey): Promise<void> {
  await pool.query(`DELETE FROM connections WHERE id = $1 AND tenant_id = $2 AND NOT ${visible}`, [
    ref.connectionId,
    ref.tenantId,
  ]);
}

/** Rows in the middle of being made or deleted, of every tenant, at most `take`. */
export async function listHidden(pool: Pool, take: number): Promise<ConnectionKey[]> {
  const { rows } = await pool.query<{ id: string; tenant_id: string }>(
    `SELECT id, tenant_id FROM connections WHERE NOT ${visible} LIMIT $1`,
    [take],
  );
  return rows.map(row => ({ connectionId: row.id, tenantId: row.tenant_id }));
}

/** Whether a row is still in the middle of being made or deleted. */
export async function isHidden(pool: Pool, ref: ConnectionKey): Promise<boolean> {
  const { rowCount } = await pool.query(
    `SELECT 1 FROM connections WHERE id = $1 AND tenant_id = $2 AND NOT ${visible}`,
    [ref.connectionId, ref.tenantId],
  );
  return rowCount === 1;
}
