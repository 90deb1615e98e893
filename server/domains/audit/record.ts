import { setTimeout as delay } from 'node:timers/promises';
import type { Pool } from 'pg';
import type { Services } from '../../contract/services.ts';
import { groupCalls } from '../../platform/group-calls.ts';
import { newId } from '../../platform/ids.ts';
import { type AuditEntry, insertAuditEntries } from './store.ts';

type AuditServices = Pick<Services, 'pool' | 'logger' | 'clock'>;
type Recorded = Omit<AuditEntry, 'id' | 'at'>;
/** What is written by itself, in order of arrival; and what waits to be written with others. */
type Writer = {
  insert: (entry: AuditEntry) => Promise<null>;
  pending: Set<Promise<unknown>>;
  late: AuditEntry[];
  timer: NodeJS.Timeout | undefined;
};

/**
 * No answer waits longer than this for its entry. An entry takes a millisecond; where the database hangs, a request may have
 * waited 14 s for its own queries already, and is to be answered within 15.
 */
const MAX_WAIT_MS = 500;
/** Entries that nobody waits for are written together after this time, or when there are so many. */
const LATE_MS = 50;
const MAX_LATE = 500;

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
  const created: Writer = { insert, pending: new Set(), late: [], timer: undefined };
  writers.set(pool, created);
  return created;
}

/** Adds a write that goes on to those that are waited for at a shutdown. It settles, whatever becomes of it. */
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
 * Records an operation in the audit log of its workspace. Settles once the entry is there, after half a second at the latest. What was
 * done is done: an entry that cannot be written goes to the service's own log as an error, and the operation is answered as
 * it ended.
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
 * The same for an operation whose author another record names as well: the entry is written within 50 ms, together with others,
 * and nobody waits for it. An entry of its own would cost a start through REST a third of the throughput.
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

/** Waits for the entries of this process that are not written yet: before they are read, and before the pool is closed. */
export async function settleAudit(services: AuditServices): Promise<void> {
  const writer = writerOf(services.pool);
  writeLate(services, writer);
  await Promise.all(writer.pending);
}
