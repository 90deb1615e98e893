import type { Services } from '../../../contract/services.ts';
import { transact } from '../../../platform/postgres/transaction.ts';
import type { ServerKey } from './sql/store.ts';

/**
 * Deletes a server, its versions and its instances in these projects; 'in_use' where it has instances and `force` is 'none', and
 * 'used_elsewhere' where it has some outside of the one project that is named.
 */
export async function deleteServerRow(
  prisma: Pick<Services, 'prisma'>,
  { tenantId, id }: ServerKey,
  force: 'none' | 'everywhere' | { projectId: string },
): Promise<'deleted' | 'in_use' | 'used_elsewhere' | 'missing'> {
  try {
    return await transact(prisma, async tx => {
      const instances = { serverId: id, tenantId };
      if (typeof force === 'object') {
        const elsewhere = { ...instances, projectId: { not: force.projectId } };
        if ((await tx.mcpInstance.count({ where: elsewhere })) > 0) return 'used_elsewhere';
      }
      if (force !== 'none') {
        const within = typeof force === 'object' ? { projectId: force.projectId } : {};
        await tx.mcpInstance.deleteMany({ where: { ...instances, ...within } });
      }
      const unused = force === 'everywhere' ? {} : { instances: { none: {} } };
      const { count } = await tx.mcpServer.deleteMany({ where: { id, tenantId, ...unused } });
      if (count === 1) return 'deleted';
      return (await tx.mcpServer.count({ where: { id, tenantId } })) === 0 ? 'missing' : 'in_use';
    });
  } catch (error) {
    // An instance was made meanwhile: its foreign key holds the server.
    if (error instanceof Error && 'code' in error && error.code === 'P2003') return 'in_use';
    throw error;
  }
}
