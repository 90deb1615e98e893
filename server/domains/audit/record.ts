import type { Pool } from 'pg';
import type { Services } from '../../contract/services.ts';
import { groupCalls } from '../../platform/group-calls.ts';
import { newId } from '../../platform/ids.ts';
import { type AuditEntry, insertAuditEntries } from './store.ts';

type AuditServices = Pick<Services, 'pool' | 'logger' | 'clock'>;

// One for each database pool, not one for the module: two containers in a process (tests) share nothing.
const writers = new WeakMap<Pool, (entry: AuditEntry) => Promise<null>>();

/** Entries that are written at the same time share one statement. */
function writerOf(pool: Pool): (entry: AuditEntry) => Promise<null> {
  const present = writers.get(pool);
  if (present) return present;
  const created = groupCalls(
    (entry: AuditEntry) => entry.id,
    async entries => {
      await insertAuditEntries(pool, entries);
      return entries.map(() => null);
    },
  );
  writers.set(pool, created);
  return created;
}

/**
 * Records an operation in the audit log of its workspace; settles once it is there. What was done is done: an entry that cannot be
 * written goes to the service's own log as an error, and the operation is answered as it ended.
 */
export async function recordAudit(
  { pool, logger, clock }: AuditServices,
  recorded: Omit<AuditEntry, 'id' | 'at'>,
): Promise<void> {
  const entry = { ...recorded, id: newId(), at: new Date(clock.now()) };
  await writerOf(pool)(entry).catch(error => {
    logger.error({ err: error, audit: entry }, 'an entry of the audit log was not written');
  });
}
