import { type Alarm, systemAlarm } from '../clock.ts';
import type { Logger } from '../logger.ts';
import { startRepeatingJob } from '../repeating-job.ts';
import { isDatabaseAway } from './away.ts';
import { StartupError } from './startup-error.ts';
import type { Queryable } from './transaction.ts';

/** BATON_REPLICATION. `managed`: a service replicates beneath PostgreSQL, which no query shows. */
export const REPLICATION_MODES = ['warn', 'require', 'managed'] as const;
export type ReplicationMode = (typeof REPLICATION_MODES)[number];

/** `sync`: a commit waits for a replica, so a failover loses nothing that was acknowledged. */
export const REPLICATION_STATES = ['none', 'async', 'sync', 'managed'] as const;
export type ReplicationState = (typeof REPLICATION_STATES)[number];

/** A condition of SQL. The sessions that write the log set synchronous_commit, so this alone makes their commits wait. */
export const WAITS_FOR_REPLICA = `btrim(current_setting('synchronous_standby_names')) <> ''`;

/**
 * Backups and logical subscribers are senders, too, and no replicas. A user without pg_monitor sees only the process ids of
 * other users' senders, which is enough for them.
 */
const READ = `
  SELECT pg_is_in_recovery() AS in_recovery, ${WAITS_FOR_REPLICA} AS waits,
         EXISTS (
           SELECT FROM pg_stat_replication AS sender
           WHERE coalesce(application_name, '') NOT IN ('pg_basebackup', 'pg_receivewal')
             AND NOT EXISTS (SELECT FROM pg_stat_progress_basebackup AS backup WHERE backup.pid = sender.pid)
             AND NOT EXISTS (
               SELECT FROM pg_replication_slots AS slot WHERE slot.active_pid = sender.pid AND slot.slot_type = 'logical'
             )
         ) AS has_replicas`;

/** Returns how the primary replicates; undefined where `db` is no primary. */
export async function readReplication(db: Queryable): Promise<Exclude<ReplicationState, 'managed'> | undefined> {
  const { rows } = await db.query<{ in_recovery: boolean; waits: boolean; has_replicas: boolean }>(READ);
  const [row] = rows;
  if (row === undefined || row.in_recovery) return undefined;
  return row.waits ? 'sync' : row.has_replicas ? 'async' : 'none';
}

/** Throws StartupError unless commits wait for a replica. */
export async function requireReplication(db: Queryable): Promise<void> {
  const state = await readReplication(db);
  if (state === 'sync' || state === undefined) return;
  const found = state === 'async' ? 'its replicas are asynchronous' : 'it has no replicas';
  throw new StartupError(
    `BATON_REPLICATION is "require" and the database does not replicate synchronously (${found}): set synchronous_standby_names there, or BATON_REPLICATION=warn.`,
  );
}

export type ReplicationWatch = {
  /** Undefined until the first answer. */
  state(): ReplicationState | undefined;
  close(): Promise<void>;
};

const EVERY_MS = 5_000;

const LINES = {
  sync: 'replication is synchronous',
  async: 'replication is asynchronous: a failover may lose what was acknowledged',
  none: 'the database has no replicas',
  managed: 'replication is left to the database service',
} as const;

/** Checks the replication regularly, because an operator of PostgreSQL may change it at any time, and logs each change. */
export function watchReplication(options: {
  pool: Queryable;
  mode: ReplicationMode;
  logger: Pick<Logger, 'info' | 'warn'>;
  alarm?: Alarm;
}): ReplicationWatch {
  const { pool, mode, logger, alarm = systemAlarm } = options;
  let state: ReplicationState | undefined;
  const became = (next: ReplicationState) => {
    if (next === state) return;
    const isWorse = next === 'async' || (next === 'none' && state !== undefined);
    logger[isWorse ? 'warn' : 'info']({ replication: next }, LINES[next]);
    state = next;
  };
  if (mode === 'managed') {
    became('managed');
    return { state: () => state, close: async () => undefined };
  }
  const job = startRepeatingJob(alarm, 0, async () => {
    try {
      const found = await readReplication(pool);
      if (found !== undefined) became(found);
    } catch (error) {
      // While the database is away nothing is known, and others report it.
      if (!isDatabaseAway(error)) logger.warn({ err: error }, 'the replication of the database could not be read');
    }
    return EVERY_MS;
  });
  return { state: () => state, close: job.close };
}
