import type { Services } from '../../operation/services.ts';
import { connectionSecret } from './document.ts';
import { tryWithConnectionLock } from './lock-queries.ts';
import { deleteHidden, isHidden, listHidden } from './store.ts';

/** More than a crash can leave, since a process creates two at a time. */
const BATCH_SIZE = 100;

/**
 * Removes what crashes and unavailable secret stores left of connections that were being created or deleted:
 * first the secret, then its row. A locked one is still in use. One that cannot be removed now is logged, and
 * found again the next time.
 */
export async function removeAbandonedConnections(
  services: Pick<Services, 'pool' | 'prisma' | 'secrets' | 'logger'>,
): Promise<void> {
  const { prisma, secrets, logger } = services;
  try {
    for (const ref of await listHidden(prisma, BATCH_SIZE)) {
      await tryWithConnectionLock(services, ref.connectionId, async () => {
        // The connection may have become visible between the query and the lock.
        if (!(await isHidden(prisma, ref))) return;
        await secrets.delete(ref.tenantId, connectionSecret(ref.connectionId));
        await deleteHidden(prisma, ref);
      });
    }
  } catch (error) {
    logger.warn({ err: error }, 'what is left of deleted connections was not removed');
  }
}
