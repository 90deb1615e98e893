import type { JsonMap } from '../../../orchestrator/core/index.ts';
import { exactJson, isUniqueViolation } from '../../../platform/postgres/prisma.ts';
import type { Transaction } from '../../../platform/postgres/transaction.ts';
import type { ProfileKey } from './profile-queries.ts';
import type { InstanceKey } from './queries.ts';

export type InstanceChange = {
  name?: string | undefined;
  /** Null: the instance follows the latest version. */
  version?: number | null | undefined;
  connectionId?: string | null | undefined;
  config?: JsonMap | undefined;
};

/** Changes the given fields. Returns false if the instance does not exist. */
export async function updateInstance(
  prisma: Pick<Transaction, 'mcpInstance'>,
  { id, tenantId, projectId, at }: InstanceKey & { at: Date },
  { name, version, connectionId, config }: InstanceChange,
): Promise<boolean> {
  const { count } = await prisma.mcpInstance.updateMany({
    where: { id, tenantId, projectId },
    // Prisma ignores undefined fields.
    data: {
      name,
      version,
      connectionId,
      ...(config === undefined ? {} : { config: exactJson(config) }),
      updatedAt: at,
    },
  });
  return count === 1;
}

/** Deletes an instance with its profiles. Returns false if it does not exist. */
export async function deleteInstanceRow(
  prisma: Pick<Transaction, 'mcpInstance'>,
  { id, tenantId, projectId }: InstanceKey,
): Promise<boolean> {
  return (await prisma.mcpInstance.deleteMany({ where: { id, tenantId, projectId } })).count === 1;
}

type ProfileChange = {
  name?: string | undefined;
  settings?: JsonMap | undefined;
  connectionId?: string | null | undefined;
};

/** Changes the given fields. Returns 'taken' if another profile of the instance has the name. */
export async function updateProfile(
  prisma: Pick<Transaction, 'mcpConfigProfile'>,
  { id, tenantId, projectId, profileId, at }: ProfileKey & { at: Date },
  { name, settings, connectionId }: ProfileChange,
): Promise<'updated' | 'taken' | 'missing'> {
  try {
    const { count } = await prisma.mcpConfigProfile.updateMany({
      where: { id: profileId, tenantId, instanceId: id, instance: { tenantId, projectId } },
      data: { name, connectionId, ...(settings === undefined ? {} : { settings: exactJson(settings) }), updatedAt: at },
    });
    return count === 1 ? 'updated' : 'missing';
  } catch (error) {
    if (isUniqueViolation(error)) return 'taken';
    throw error;
  }
}

/** Activates or deactivates a profile. Returns false if the instance does not have it. */
export async function setActiveProfile(
  prisma: Pick<Transaction, 'mcpInstance'>,
  { id, tenantId, projectId, profileId, at }: ProfileKey & { at: Date },
  active: boolean,
): Promise<boolean> {
  const where = { id, tenantId, projectId, profiles: { some: { id: profileId } } };
  const update = async (more: { activeProfileId?: string }, data: { activeProfileId?: string | null }) =>
    (await prisma.mcpInstance.updateMany({ where: { ...where, ...more }, data: { ...data, updatedAt: at } })).count ===
    1;
  if (active) return update({}, { activeProfileId: profileId });
  // Deactivating a profile that is not active leaves the active one as it is.
  return (await update({ activeProfileId: profileId }, { activeProfileId: null })) || update({}, {});
}
