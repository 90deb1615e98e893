import { setTimeout as delay } from 'node:timers/promises';
import type { Pool } from 'pg';
import type { Services } from '../../contract/services.ts';
import { groupCalls } from '../../platform/group-calls.ts';
import { newId } from '../../platform/ids.ts';
import { type AuditEntry, insertAuditEntries } from './store.ts';

type AuditServices = Pick<Services, 'pool' | 'logger' | 'clock'>;
type Writer = { insert: (entry: AuditEntry) => Promise<null>; pending: Set<Promise<unknown>> };

/**
 * No answer waits longer than this for its entry. An entry takes a millisecond; where the database hangs, a request may have
 * waited 14 s for its own queries already, and is to be answered within 15.
 */
const MAX_WAIT_MS = 500;

// One for each database pool, not one for the module: two containers in a process (tests) share nothing.
const writers = new WeakMap<Pool, Writer>();

/** Entries that are written at the same time share one statement. */
function writerOf(pool: Pool): Writer {
  const present = writers.get(pool);
  if (present) return present;
  const insert = groupCalls(
    (entry: AuditEntry) => entry.id,
    async entries => {
      await insertAuditEntries(pool, entries);
      return entries.map(() => null);
    },
  );
  const created = { insert, pending: new Set<Promise<unknown>>() };
  writers.set(pool, created);
  return created;
}

/**
 * Records an operation in the audit log of its workspace. Settles once the entry is there, after half a second at the latest. What was
 * done is done: an entry that cannot be written goes to the service's own log as an error, and the operation is answered as
 * it ended.
 */
export async function recordAudit(
  { pool, logger, clock }: AuditServices,
  recorded: Omit<AuditEntry, 'id' | 'at'>,
): Promise<void> {
  const { insert, pending } = writerOf(pool);
  const entry = { ...recorded, id: newId(), at: new Date(clock.now()) };
  const write = insert(entry).catch(error => {
    logger.error({ err: error, audit: entry }, 'an entry of the audit log was not written');
  });
  pending.add(write);
  const isOver = new AbortController();
  const tooLong = delay(MAX_WAIT_MS, undefined, { signal: isOver.signal, ref: false }).catch(() => undefined);
  await Promise.race([write.finally(() => pending.delete(write)), tooLong]);
  isOver.abort();
}

/** Waits for the entries that are being written: before the pool is closed. */
export async function settleAudit({ pool }: Pick<Services, 'pool'>): Promise<void> {
  await Promise.all(writerOf(pool).pending);
}
