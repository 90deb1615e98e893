import type { Services } from '../../operation/services.ts';
import { newId } from '../../platform/ids.ts';
import { connectionSecret, documentOf } from './document.ts';
import { withConnectionLock } from './lock-queries.ts';
import { activate, type ConnectionKey, type ConnectionRow, deleteHidden, insertPending } from './store.ts';
import { writeDocument } from './stored.ts';

export type NewConnection = {
  tenantId: string;
  /** Null: shared with the whole workspace. */
  projectId: string | null;
  name: string;
  provider: string;
  service: string;
  values: Readonly<Record<string, string>>;
  config: unknown;
  account: unknown;
  /** Where the secret may be sent; empty: the first use by its creator decides. */
  origins: readonly string[];
  /** The origin to which its refresh token may be sent. */
  tokenOrigin?: string | null;
  expiresAt: Date | null;
  createdBy: string;
};
type SavingServices = Pick<Services, 'pool' | 'prisma' | 'secrets' | 'clock' | 'logger'>;

/**
 * Saves a connection: first a hidden row, then the secret, then the row becomes visible. A crash in between leaves a
 * hidden row, through which `removeAbandonedConnections` finds the secret; writing the secret first would leave one
 * without a row. Throws AppError 503 if the secret store is unavailable: nothing is left.
 */
export async function saveNew(services: SavingServices, made: NewConnection): Promise<ConnectionRow> {
  const { prisma, clock } = services;
  const { tenantId, values, expiresAt, tokenOrigin = null, ...row } = made;
  const ref = { tenantId, connectionId: newId() };
  const at = new Date(clock.now());
  // Locked before the row exists: removeAbandonedConnections treats a hidden row without a lock as left by a crash.
  return withConnectionLock(services, ref.connectionId, async () => {
    await insertPending(prisma, { ...row, tokenOrigin, ref, at });
    try {
      await writeDocument(services, ref, documentOf(values, { revision: at.getTime(), origins: made.origins }));
      return await activate(prisma, ref, { keys: Object.keys(values), expiresAt, rotatedAt: at });
    } catch (error) {
      await discard(services, ref);
      throw error;
    }
  });
}

/**
 * Discards a connection that could not be saved. The store may have received the secret although its answer was lost,
 * so the secret is deleted first, and then the row.
 */
async function discard({ prisma, secrets, logger }: SavingServices, ref: ConnectionKey): Promise<void> {
  try {
    await secrets.delete(ref.tenantId, connectionSecret(ref.connectionId));
    await deleteHidden(prisma, ref);
  } catch (error) {
    logger.warn({ err: error, connection_id: ref.connectionId }, 'what is left of a connection is removed later');
  }
}
