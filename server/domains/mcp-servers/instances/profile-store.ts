import type { Pool } from 'pg';
import type { JsonMap } from '../../../orchestrator/core/index.ts';
import { limits } from '../schemas.ts';
import type { InstanceKey } from './store.ts';

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

const select = `select p.id, p.instance_id, p.name, p.settings, p.connection_id, c.name as connection_name,
    coalesce(i.active_profile_id = p.id, false) as active, p.created_at, p.updated_at
  from mcp_config_profiles p join mcp_instances i on i.id = p.instance_id and i.tenant_id = p.tenant_id
  left join connections c on c.id = p.connection_id and c.tenant_id = p.tenant_id
  where i.id = $1 and i.tenant_id = $2 and i.project_id = $3`;

/** By name, those after the profile of that name and id. */
export async function listProfileRows(
  pool: Pool,
  key: InstanceKey,
  { after, limit }: { after: { name: string; id: string } | null; limit: number },
): Promise<ProfileRow[]> {
  const { rows } = await pool.query<ProfileRow>(
    `${select} and ($4::text is null or (p.name, p.id) > ($4, $5::uuid)) order by p.name, p.id limit $6`,
    [key.id, key.tenantId, key.projectId, after?.name ?? null, after?.id ?? null, limit],
  );
  return rows;
}

/** Null where the instance has none of that id. */
export async function findProfile(pool: Pool, key: ProfileKey): Promise<ProfileRow | null> {
  const { rows } = await pool.query<ProfileRow>(`${select} and p.id = $4`, [
    key.id,
    key.tenantId,
    key.projectId,
    key.profileId,
  ]);
  return rows[0] ?? null;
}

/** 'taken': another profile of the instance has the name. 'full': the instance has as many as it may, or is gone. */
export async function insertProfile(
  pool: Pool,
  key: ProfileKey & { at: Date },
  profile: { name: string; settings: JsonMap; connectionId: string | null },
): Promise<'inserted' | 'taken' | 'full'> {
  const { rows } = await pool.query<{ full: boolean; inserted: boolean }>(
    `with instance as (
       select i.id, i.tenant_id, (select count(*) from mcp_config_profiles p where p.instance_id = i.id) >= $9 as full
         from mcp_instances i where i.id = $1 and i.tenant_id = $2 and i.project_id = $3),
     new as (
       insert into mcp_config_profiles (id, tenant_id, instance_id, name, settings, connection_id, created_at, updated_at)
       select $4, tenant_id, id, $5, $6, $7, $8, $8 from instance where not instance.full
       on conflict (instance_id, name) do nothing
       returning id)
     select instance.full, exists (select from new) as inserted from instance`,
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

/** Changes what is given; 'taken': another profile of the instance has the name. */
export async function updateProfile(
  pool: Pool,
  key: ProfileKey & { at: Date },
  change: { name?: string | undefined; settings?: JsonMap | undefined; connectionId?: string | null | undefined },
): Promise<'updated' | 'taken' | 'missing'> {
  try {
    const { rowCount } = await pool.query(
      `update mcp_config_profiles p
          set name = coalesce($6, p.name), settings = coalesce($7::json, p.settings),
              connection_id = case when $8 then $9::uuid else p.connection_id end, updated_at = $5
         from mcp_instances i
        where i.id = $1 and i.tenant_id = $2 and i.project_id = $3 and p.instance_id = i.id and p.id = $4`,
      [
        key.id,
        key.tenantId,
        key.projectId,
        key.profileId,
        key.at,
        change.name ?? null,
        change.settings === undefined ? null : JSON.stringify(change.settings),
        change.connectionId !== undefined,
        change.connectionId ?? null,
      ],
    );
    return rowCount === 1 ? 'updated' : 'missing';
  } catch (error) {
    if (error instanceof Error && 'code' in error && error.code === '23505') return 'taken';
    throw error;
  }
}

/** Deletes it; where it was the active one, none is. False where there was none. */
export async function deleteProfileRow(pool: Pool, key: ProfileKey): Promise<boolean> {
  const { rowCount } = await pool.query(
    `with gone as (
       delete from mcp_config_profiles p using mcp_instances i
        where i.id = $1 and i.tenant_id = $2 and i.project_id = $3 and p.instance_id = i.id and p.id = $4
        returning p.id),
     inactive as (
       update mcp_instances set active_profile_id = null
        where id = $1 and tenant_id = $2 and project_id = $3 and active_profile_id = $4)
     select id from gone`,
    [key.id, key.tenantId, key.projectId, key.profileId],
  );
  return rowCount === 1;
}

/** Makes it the active one, or no more; false where the instance has no such profile. */
export async function setActiveProfile(pool: Pool, key: ProfileKey & { at: Date }, active: boolean): Promise<boolean> {
  const { rowCount } = await pool.query(
    `update mcp_instances i
        set active_profile_id = case when $6 then p.id when i.active_profile_id = p.id then null else i.active_profile_id end,
            updated_at = $5
       from mcp_config_profiles p
      where i.id = $1 and i.tenant_id = $2 and i.project_id = $3 and p.instance_id = i.id and p.id = $4`,
    [key.id, key.tenantId, key.projectId, key.profileId, key.at, active],
  );
  return rowCount === 1;
}
