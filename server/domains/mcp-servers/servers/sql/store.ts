import type { Pool } from 'pg';
import type { z } from 'zod';
import type { McpTool } from '../../../../platform/mcp-client/index.ts';
import { type Queryable, transact } from '../../../../platform/postgres/transaction.ts';
import { type AuthMode, limits, type ServerMode, type ServerStatus } from '../../schemas.ts';

export type StoredServerInfo = {
  name: string;
  version: string;
  protocolVersion: string;
  transport: string;
  instructions?: string;
};
/** The column `discovered`. */
export type StoredDiscovery = { tools: McpTool[]; server_info: StoredServerInfo; warnings?: string[] };

export type ServerRow = {
  id: string;
  tenant_id: string;
  name: string;
  service: string;
  canonical_url: string;
  mode: z.output<typeof ServerMode>;
  auth_mode: z.output<typeof AuthMode>;
  status: z.output<typeof ServerStatus>;
  latest_version: number | null;
  tool_count: number;
  instance_count: number;
  discovered_at: Date | null;
  last_error: string | null;
  created_at: Date;
  updated_at: Date;
};
export type ServerDetailRow = ServerRow & { discovered: StoredDiscovery | null };
export type ServerKey = { tenantId: string; id: string };

const columns = `s.id, s.tenant_id, s.name, s.service, s.canonical_url, s.mode, s.auth_mode, s.status, s.latest_version,
  s.tool_count, s.discovered_at, s.last_error, s.created_at, s.updated_at,
  (SELECT count(*)::int FROM mcp_instances i WHERE i.server_id = s.id AND i.tenant_id = s.tenant_id) AS instance_count`;

/** Services (slugs) of the tenant that begin with `slug`: what a new one must differ from. */
export async function takenServices(pool: Pool, tenantId: string, slug: string): Promise<Set<string>> {
  const { rows } = await pool.query<{ service: string }>(
    'SELECT service FROM mcp_servers WHERE tenant_id = $1 AND starts_with(service, $2)',
    [tenantId, slug],
  );
  return new Set(rows.map(row => row.service));
}

/** Inserts a draft: 'taken' where the service is somebody else's by now, 'full' where the tenant has as many as it may. */
export async function insertServer(
  pool: Pool,
  row: {
    id: string;
    tenantId: string;
    name: string;
    service: string;
    canonicalUrl: string;
    mode: string;
    authMode: string;
    createdBy: string;
    at: Date;
  },
): Promise<ServerRow | 'taken' | 'full'> {
  const { rows } = await pool.query<{ count: number; inserted: boolean }>(
    `WITH present AS (SELECT count(*)::int AS count FROM mcp_servers WHERE tenant_id = $2),
     new AS (
       INSERT INTO mcp_servers (id, tenant_id, name, service, canonical_url, mode, auth_mode, status, tool_count,
         created_by, created_at, updated_at)
       SELECT $1, $2, $3, $4, $5, $6, $7, 'draft', 0, $8, $9, $9 FROM present WHERE count < $10
       ON CONFLICT (tenant_id, service) DO NOTHING
       RETURNING id)
     SELECT present.count, EXISTS (SELECT FROM new) AS inserted FROM present`,
    [
      row.id,
      row.tenantId,
      row.name,
      row.service,
      row.canonicalUrl,
      row.mode,
      row.authMode,
      row.createdBy,
      row.at,
      limits.serversPerTenant,
    ],
  );
  const [answer] = rows;
  if (answer?.inserted !== true) return (answer?.count ?? 0) >= limits.serversPerTenant ? 'full' : 'taken';
  const inserted = await findServer(pool, row);
  return inserted ?? 'taken';
}

/** The server without its tools; null where the tenant has none of that id. */
export async function findServer(pool: Pool, { tenantId, id }: ServerKey): Promise<ServerRow | null> {
  const { rows } = await pool.query<ServerRow>(
    `SELECT ${columns} FROM mcp_servers s WHERE s.id = $1 AND s.tenant_id = $2`,
    [id, tenantId],
  );
  return rows[0] ?? null;
}

/** The same with the tools of the last discovery. */
export async function findServerDetail(pool: Pool, { tenantId, id }: ServerKey): Promise<ServerDetailRow | null> {
  const { rows } = await pool.query<ServerDetailRow>(
    `SELECT ${columns}, s.discovered FROM mcp_servers s WHERE s.id = $1 AND s.tenant_id = $2`,
    [id, tenantId],
  );
  return rows[0] ?? null;
}

export type ServerFilter = {
  status?: string | undefined;
  q?: string | undefined;
  after: { at: Date; id: string } | null;
  limit: number;
};

/** Newest first. */
export async function listServerRows(pool: Pool, tenantId: string, filter: ServerFilter): Promise<ServerRow[]> {
  const { rows } = await pool.query<ServerRow>(
    `SELECT ${columns} FROM mcp_servers s
      WHERE s.tenant_id = $1 AND ($2::text IS NULL OR s.status = $2)
        AND ($3::text IS NULL OR s.name ILIKE $3 OR s.service ILIKE $3 OR s.canonical_url ILIKE $3)
        AND ($4::timestamptz IS NULL OR (s.created_at, s.id) < ($4, $5::uuid))
      ORDER BY s.created_at DESC, s.id DESC LIMIT $6`,
    [
      tenantId,
      filter.status ?? null,
      likePattern(filter.q),
      filter.after?.at ?? null,
      filter.after?.id ?? null,
      filter.limit,
    ],
  );
  return rows;
}

/** A pattern for ILIKE that finds the text itself anywhere; null for none. */
export function likePattern(text: string | undefined): string | null {
  return text === undefined || text === '' ? null : `%${text.replace(/[\\%_]/g, '\\$&')}%`;
}

/**
 * Changes what is given. Another address or another way to sign in is another server as far as anybody knows: what was
 * discovered is forgotten and the status is draft again. Returns 'used_elsewhere', and changes nothing, for another address of a
 * server that has instances outside of the project `movableBy`; 'missing' where there is no such server.
 */
export async function updateServer(
  pool: Pool,
  key: ServerKey & { at: Date; movableBy: 'everybody' | { projectId: string } },
  change: ServerChange,
): Promise<'updated' | 'used_elsewhere' | 'missing'> {
  return transact(pool, async tx => {
    // The lock makes an instance that is created meanwhile wait: its foreign key refers to this row.
    const { rows } = await tx.query<{ canonical_url: string }>(
      'SELECT canonical_url FROM mcp_servers WHERE id = $1 AND tenant_id = $2 FOR UPDATE',
      [key.id, key.tenantId],
    );
    const [server] = rows;
    if (server === undefined) return 'missing';
    const isMoved = change.canonicalUrl !== undefined && change.canonicalUrl !== server.canonical_url;
    if (isMoved && key.movableBy !== 'everybody' && (await isUsedOutside(tx, key, key.movableBy.projectId)))
      return 'used_elsewhere';
    await writeServer(tx, key, change);
    return 'updated';
  });
}

type ServerChange = { name?: string | undefined; canonicalUrl?: string | undefined; authMode?: string | undefined };

async function isUsedOutside(tx: Queryable, { tenantId, id }: ServerKey, projectId: string): Promise<boolean> {
  const { rows } = await tx.query<{ used: boolean }>(
    `SELECT EXISTS (SELECT FROM mcp_instances WHERE server_id = $1 AND tenant_id = $2 AND project_id <> $3) AS used`,
    [id, tenantId, projectId],
  );
  return rows[0]?.used === true;
}

async function writeServer(tx: Queryable, key: ServerKey & { at: Date }, change: ServerChange): Promise<void> {
  await tx.query(
    `UPDATE mcp_servers
        SET name = coalesce($4, name), canonical_url = coalesce($5, canonical_url), auth_mode = coalesce($6, auth_mode),
            status = CASE WHEN moved THEN 'draft' ELSE status END,
            discovered = CASE WHEN moved THEN NULL ELSE discovered END,
            discovered_at = CASE WHEN moved THEN NULL ELSE discovered_at END,
            tool_count = CASE WHEN moved THEN 0 ELSE tool_count END,
            last_error = CASE WHEN moved THEN NULL ELSE last_error END,
            updated_at = $3
       FROM (SELECT id AS this, coalesce($5, canonical_url) <> canonical_url OR coalesce($6, auth_mode) <> auth_mode AS moved
               FROM mcp_servers WHERE id = $1 AND tenant_id = $2) before
      WHERE id = $1 AND tenant_id = $2 AND this = id`,
    [key.id, key.tenantId, key.at, change.name ?? null, change.canonicalUrl ?? null, change.authMode ?? null],
  );
}

/**
 * Keeps what a discovery found, or why it failed (what was found before then stays). False where the server was changed or
 * deleted while it was being asked.
 */
export async function saveDiscovery(
  pool: Pool,
  asked: ServerKey & { canonicalUrl: string; authMode: string; at: Date },
  found: StoredDiscovery | { failure: string },
): Promise<boolean> {
  const failure = 'failure' in found ? found.failure : null;
  const discovery = 'failure' in found ? null : found;
  const { rowCount } = await pool.query(
    `UPDATE mcp_servers
        SET discovered = coalesce($6::json, discovered), tool_count = coalesce($7, tool_count),
            discovered_at = CASE WHEN $6::json IS NULL THEN discovered_at ELSE $5 END, last_error = $8, updated_at = $5
      WHERE id = $1 AND tenant_id = $2 AND canonical_url = $3 AND auth_mode = $4`,
    [
      asked.id,
      asked.tenantId,
      asked.canonicalUrl,
      asked.authMode,
      asked.at,
      discovery === null ? null : JSON.stringify(discovery),
      discovery?.tools.length ?? null,
      failure,
    ],
  );
  return rowCount === 1;
}
