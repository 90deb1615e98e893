import type { Pool } from 'pg';
import type { JsonMap } from '../../../orchestrator/core/index.ts';
import { limits } from '../schemas.ts';
import type { InstanceKey } from './queries.ts';

export type ProfileRow = {
  id: string;
  instance_id: string;
  name: string;
  settings: JsonMap;
  connection_id: string | null;
  connection_name: string | null;
  active: boolean;
  created_at: Date;
  updated_at: Date;
};
export type ProfileKey = InstanceKey & { profileId: string };

const select = `SELECT p.id, p.instance_id, p.name, p.settings, p.connection_id, c.name AS connection_name,
    coalesce(i.active_profile_id = p.id, false) AS active, p.created_at, p.updated_at
  FROM mcp_config_profiles p JOIN mcp_instances i ON i.id = p.instance_id AND i.tenant_id = p.tenant_id
  LEFT JOIN connections c ON c.id = p.connection_id AND c.tenant_id = p.tenant_id
  WHERE i.id = $1 AND i.tenant_id = $2 AND i.project_id = $3`;

/** Returns profiles by name, after the profile of that name and id. */
export async function listProfileRows(
  pool: Pool,
  key: InstanceKey,
  { after, limit }: { after: { name: string; id: string } | null; limit: number },
): Promise<ProfileRow[]> {
  const { rows } = await pool.query<ProfileRow>(
    `${select} AND ($4::text IS NULL OR (p.name, p.id) > ($4, $5::uuid)) ORDER BY p.name, p.id LIMIT $6`,
    [key.id, key.tenantId, key.projectId, after?.name ?? null, after?.id ?? null, limit],
  );
  return rows;
}

/** Returns null if the instance does not have the profile. */
export async function findProfile(pool: Pool, key: ProfileKey): Promise<ProfileRow | null> {
  const { rows } = await pool.query<ProfileRow>(`${select} AND p.id = $4`, [
    key.id,
    key.tenantId,
    key.projectId,
    key.profileId,
  ]);
  return rows[0] ?? null;
}

/**
 * Inserts a profile. Returns 'taken' if another profile of the instance has the name, and 'full' if the instance is at
 * its limit or no longer exists.
 */
export async function insertProfile(
  pool: Pool,
  key: ProfileKey & { at: Date },
  profile: { name: string; settings: JsonMap; connectionId: string | null },
): Promise<'inserted' | 'taken' | 'full'> {
  const { rows } = await pool.query<{ full: boolean; inserted: boolean }>(
    `WITH instance AS (
       SELECT i.id, i.tenant_id, (SELECT count(*) FROM mcp_config_profiles p WHERE p.instance_id = i.id) >= $9 AS full
         FROM mcp_instances i WHERE i.id = $1 AND i.tenant_id = $2 AND i.project_id = $3),
     new AS (
       INSERT INTO mcp_config_profiles (id, tenant_id, instance_id, name, settings, connection_id, created_at, updated_at)
       SELECT $4, tenant_id, id, $5, $6, $7, $8, $8 FROM instance WHERE NOT instance.full
       ON CONFLICT (instance_id, name) DO NOTHING
       RETURNING id)
     SELECT instance.full, EXISTS (SELECT FROM new) AS inserted FROM instance`,
    [
      key.id,
      key.tenantId,
      key.projectId,
      key.profileId,
      profile.name,
      JSON.stringify(profile.settings),
      profile.connectionId,
      key.at,
      limits.profilesPerInstance,
    ],
  );
  const [answer] = rows;
  if (answer?.inserted === true) return 'inserted';
  return answer === undefined || answer.full ? 'full' : 'taken';
}

/** Deletes a profile; if it was active, the instance has no active profile afterwards. Returns false if it does not exist. */
export async function deleteProfileRow(pool: Pool, key: ProfileKey): Promise<boolean> {
  const { rowCount } = await pool.query(
    `WITH gone AS (
       DELETE FROM mcp_config_profiles p USING mcp_instances i
        WHERE i.id = $1 AND i.tenant_id = $2 AND i.project_id = $3 AND p.instance_id = i.id AND p.id = $4
        RETURNING p.id),
     inactive AS (
       UPDATE mcp_instances SET active_profile_id = NULL
        WHERE id = $1 AND tenant_id = $2 AND project_id = $3 AND active_profile_id = $4)
     SELECT id FROM gone`,
    [key.id, key.tenantId, key.projectId, key.profileId],
  );
  return rowCount === 1;
}
