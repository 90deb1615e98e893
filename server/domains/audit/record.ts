import { setTimeout as delay } from 'node:timers/promises';
import type { Pool } from 'pg';
import type { Services } from '../../operation/services.ts';
import { groupCalls } from '../../platform/group-calls.ts';
import { newId } from '../../platform/ids.ts';
import { type AuditEntry, insertAuditEntries } from './store.ts';

type AuditServices = Pick<Services, 'pool' | 'logger' | 'clock'>;
type Recorded = Omit<AuditEntry, 'id' | 'at'>;
/** Entries that are being written, in order of arrival, and those that wait to be written together. */
type Writer = {
  insert: (entry: AuditEntry) => Promise<null>;
  pending: Set<Promise<unknown>>;
  late: AuditEntry[];
  timer: NodeJS.Timeout | undefined;
};

/**
 * The maximum time that an answer waits for its entry. Writing an entry takes a millisecond. If the database hangs, a
 * request may already have waited 14 s for its own queries, and must be answered within 15 s.
 */
const MAX_WAIT_MS = 500;
/** Entries that no request waits for are written together after this time, or when there are MAX_LATE of them. */
const LATE_MS = 50;
const MAX_LATE = 500;

// One per database pool, not one per module: two containers in a process (tests) share nothing.
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
  const created: Writer = { insert, pending: new Set(), late: [], timer: undefined };
  writers.set(pool, created);
  return created;
}

/** Adds a write to those that shutdown waits for. */
function track({ pending }: Writer, write: Promise<unknown>): Promise<unknown> {
  pending.add(write);
  return write.finally(() => pending.delete(write));
}

function report({ logger }: AuditServices, entries: readonly AuditEntry[], error: unknown): void {
  for (const entry of entries) logger.error({ err: error, audit: entry }, 'an entry of the audit log was not written');
}

const entryAt = ({ clock }: AuditServices, recorded: Recorded): AuditEntry => ({
  ...recorded,
  id: newId(),
  at: new Date(clock.now()),
});

/**
 * Records an operation in the audit log of its workspace. Settles once the entry is written, or after half a second.
 * The operation has already happened, so if its entry cannot be written, the entry goes to the service's own log as an
 * error, and the answer is unaffected.
 */
export async function recordAudit(services: AuditServices, recorded: Recorded): Promise<void> {
  const writer = writerOf(services.pool);
  const entry = entryAt(services, recorded);
  const write = track(
    writer,
    writer.insert(entry).catch(error => report(services, [entry], error)),
  );
  const isOver = new AbortController();
  const tooLong = delay(MAX_WAIT_MS, undefined, { signal: isOver.signal, ref: false }).catch(() => undefined);
  await Promise.race([write, tooLong]);
  isOver.abort();
}

/**
 * Records an operation whose author is also recorded elsewhere. No request waits for the entry, which is written
 * together with others within 50 ms. An individual write would cost starts through REST a third of their throughput.
 */
export function recordAuditLater(services: AuditServices, recorded: Recorded): void {
  const writer = writerOf(services.pool);
  writer.late.push(entryAt(services, recorded));
  if (writer.late.length >= MAX_LATE) writeLate(services, writer);
  else writer.timer ??= setTimeout(() => writeLate(services, writer), LATE_MS).unref();
}

function writeLate(services: AuditServices, writer: Writer): void {
  clearTimeout(writer.timer);
  writer.timer = undefined;
  const entries = writer.late;
  if (entries.length === 0) return;
  writer.late = [];
  void track(
    writer,
    insertAuditEntries(services.pool, entries).catch(error => report(services, entries, error)),
  );
}

/**
 * Waits until all entries of this process are written. Call this before they are read, and before the pool is closed.
 */
export async function settleAudit(services: AuditServices): Promise<void> {
  const writer = writerOf(services.pool);
  writeLate(services, writer);
  await Promise.all(writer.pending);
}
