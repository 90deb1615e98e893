import type pg from 'pg';

/**
 * Runs `work` in a transaction that can change nothing and ends within seconds. Its settings are those of the transaction, so
 * that a pooler hands none of them to another session.
 */
export async function look<T>(db: pg.Client, work: (db: pg.Client) => Promise<T>): Promise<T> {
  await db.query('BEGIN TRANSACTION READ ONLY');
  try {
    await db.query('SET LOCAL statement_timeout = 8000; SET LOCAL lock_timeout = 2000');
    return await work(db);
  } finally {
    await db.query('ROLLBACK').catch(() => undefined);
  }
}

export type Server = {
  number: number;
  version: string;
  database: string;
  address: string | null;
  inRecovery: boolean;
  /** Whether the database has the tables of Baton. */
  isBaton: boolean;
  /** Whether the user may write to the tables of Baton; null where there are none. */
  mayWrite: boolean | null;
  /** Whether the database has no table. */
  isEmpty: boolean;
};

export async function readServer(db: pg.Client): Promise<Server> {
  const { rows } = await db.query<Server>(
    `SELECT current_setting('server_version_num')::int AS number, current_setting('server_version') AS version,
            current_database()::text AS database, host(inet_server_addr()) || ':' || inet_server_port() AS address,
            pg_is_in_recovery() AS "inRecovery",
            to_regclass('_prisma_migrations') IS NOT NULL AND to_regclass('tenants') IS NOT NULL AS "isBaton",
            has_table_privilege(to_regclass('tenants'), 'INSERT') AS "mayWrite",
            NOT EXISTS (SELECT FROM pg_tables WHERE schemaname = current_schema()) AS "isEmpty"`,
  );
  return only(rows);
}

/** Returns the settings with which a session begins; timeouts in ms. Settings that this version does not have are absent. */
export async function readServerSettings(
  db: pg.Client,
  names: readonly string[],
): Promise<ReadonlyMap<string, string>> {
  const { rows } = await db.query<{ name: string; value: string }>(
    'SELECT name, reset_val AS value FROM pg_settings WHERE name = ANY($1::text[])',
    [names],
  );
  return new Map(rows.map(({ name, value }) => [name, value]));
}

export async function readConnections(db: pg.Client): Promise<{ used: number; most: number; ofBaton: number }> {
  const { rows } = await db.query<{ used: number; most: number; ofBaton: number }>(
    `SELECT (SELECT coalesce(sum(numbackends), 0)::int FROM pg_stat_database) AS used,
            current_setting('max_connections')::int - current_setting('superuser_reserved_connections')::int AS most,
            (SELECT count(*)::int FROM pg_stat_activity
             WHERE datname = current_database() AND application_name IN ('baton', 'baton-orchestrator', 'baton-member')) AS "ofBaton"`,
  );
  return only(rows);
}

export type TableSize = { name: string; bytes: number };

/** Returns the size of the database and its largest tables, each with its partitions, indexes and large values. */
export async function readSizes(db: pg.Client): Promise<{ bytes: number; tables: TableSize[] }> {
  const { rows } = await db.query<{ name: string; bytes: string; total: string }>(
    `SELECT parent.oid::regclass::text AS name, sum(pg_total_relation_size(part.oid))::text AS bytes,
            pg_database_size(current_database())::text AS total
     FROM pg_class part JOIN pg_class parent ON parent.oid = coalesce(pg_partition_root(part.oid), part.oid)
     WHERE part.relkind = 'r' AND part.relnamespace = current_schema()::regnamespace
     GROUP BY parent.oid ORDER BY sum(pg_total_relation_size(part.oid)) DESC LIMIT 5`,
  );
  return {
    bytes: Number(rows[0]?.total ?? 0),
    tables: rows.map(({ name, bytes }) => ({ name, bytes: Number(bytes) })),
  };
}

export type LongRunning = { pid: number; application: string; state: string; command: string; seconds: number };

/**
 * Returns what other sessions of the database have done for longer than `seconds`. Only the first word of a statement is read:
 * the rest may hold values. The user of the database sees the sessions of others only as a monitor.
 */
export async function readLongRunning(db: pg.Client, seconds: number): Promise<LongRunning[]> {
  const { rows } = await db.query<LongRunning>(
    `SELECT pid, coalesce(application_name, '') AS application, state,
            coalesce(upper(substring(query FROM '^\\s*([A-Za-z]+)')), '') AS command,
            extract(epoch FROM clock_timestamp() - CASE state WHEN 'active' THEN query_start ELSE state_change END)::int AS seconds
     FROM pg_stat_activity
     WHERE datname = current_database() AND pid <> pg_backend_pid() AND backend_type = 'client backend'
       AND state IN ('active', 'idle in transaction', 'idle in transaction (aborted)')
       AND CASE state WHEN 'active' THEN query_start ELSE state_change END < clock_timestamp() - make_interval(secs => $1)
     ORDER BY seconds DESC LIMIT 5`,
    [seconds],
  );
  return rows;
}

export type SlowStatement = { statement: string; calls: number; meanMs: number };

export async function hasStatementStatistics(db: pg.Client): Promise<boolean> {
  const { rows } = await db.query<{ found: boolean }>(`SELECT to_regclass('pg_stat_statements') IS NOT NULL AS found`);
  return only(rows).found;
}

/** Returns the statements that take longest on average. PostgreSQL has replaced their values; others than these are left out. */
export async function readSlowStatements(db: pg.Client, meanMs: number): Promise<SlowStatement[]> {
  const { rows } = await db.query<SlowStatement>(
    `SELECT left(regexp_replace(regexp_replace(query, '''[^'']*''', '''…''', 'g'), '\\s+', ' ', 'g'), 120) AS statement,
            calls::float8 AS calls, round(mean_exec_time)::int AS "meanMs"
     FROM pg_stat_statements
     WHERE dbid = (SELECT oid FROM pg_database WHERE datname = current_database()) AND calls >= 5 AND mean_exec_time > $1
       AND query ~* '^\\s*(select|insert|update|delete|with|merge)\\M'
     ORDER BY mean_exec_time DESC LIMIT 5`,
    [meanMs],
  );
  return rows;
}

export type ActiveRuns = { executing: number; blocked: number; paused: number };

export async function countActive(db: pg.Client): Promise<ActiveRuns> {
  const { rows } = await db.query<ActiveRuns>(
    `SELECT count(*) FILTER (WHERE orchestration_phase NOT IN ('blocked', 'paused'))::int AS executing,
            count(*) FILTER (WHERE orchestration_phase = 'blocked')::int AS blocked,
            count(*) FILTER (WHERE orchestration_phase = 'paused')::int AS paused
     FROM runs WHERE ended_at IS NULL`,
  );
  return only(rows);
}

/** The first runs of a kind, and how many there are. */
export type SomeRuns = { count: number; runs: { id: string; workspace: string }[] };

type RunRow = { id: string; workspace: string; count: number };
const some = (rows: readonly RunRow[]): SomeRuns => ({
  count: rows[0]?.count ?? 0,
  runs: rows.map(({ id, workspace }) => ({ id, workspace })),
});
const SOME = 'SELECT r.id, r.tenant_id AS workspace, count(*) OVER ()::int AS count';

/** Returns runs that wait although no task asks anybody and no timer is set. */
export async function readForgotten(db: pg.Client): Promise<SomeRuns> {
  const { rows } = await db.query<RunRow>(
    `${SOME} FROM runs r
     WHERE r.ended_at IS NULL AND r.orchestration_phase = 'blocked' AND r.pending_tasks = 0 AND r.next_timer_at IS NULL
     ORDER BY r.id LIMIT 5`,
  );
  return some(rows);
}

/** Returns runs that wait for a time which is over since `before`, in ms since the epoch. */
export async function readOverdue(db: pg.Client, before: number): Promise<SomeRuns> {
  const { rows } = await db.query<RunRow>(
    `${SOME} FROM runs r
     WHERE r.ended_at IS NULL AND r.orchestration_phase = 'blocked' AND r.next_timer_at < to_timestamp($1::float8 / 1000)
     ORDER BY r.id LIMIT 5`,
    [before],
  );
  return some(rows);
}

/** Returns runs with work to do whose last event is from before `before`, and that wait for no run that they called. */
export async function readQuiet(db: pg.Client, before: number): Promise<SomeRuns> {
  const { rows } = await db.query<RunRow>(
    `${SOME} FROM runs r
       CROSS JOIN LATERAL (SELECT e.created_at FROM run_events e WHERE e.run_id = r.id ORDER BY e.seq DESC LIMIT 1) latest
     WHERE r.ended_at IS NULL AND r.orchestration_phase NOT IN ('blocked', 'paused')
       AND r.started_at < to_timestamp($1::float8 / 1000) AND latest.created_at < to_timestamp($1::float8 / 1000)
       AND NOT EXISTS (
         SELECT FROM child_runs c JOIN runs called ON called.id = c.run_id
         WHERE c.parent_run_id = r.id AND called.ended_at IS NULL
       )
     ORDER BY r.id LIMIT 5`,
    [before],
  );
  return some(rows);
}

/** Returns active runs during whose load at least `deaths` processes ended, so that none loads them any more. */
export async function readQuarantined(db: pg.Client, deaths: number): Promise<SomeRuns> {
  const { rows } = await db.query<RunRow>(
    `${SOME} FROM run_load_deaths d JOIN runs r ON r.id = d.run_id
     WHERE d.deaths >= $1 AND r.ended_at IS NULL ORDER BY r.id LIMIT 5`,
    [deaths],
  );
  return some(rows);
}

export type Addresses = { keys: { provider: string; config: unknown }[]; servers: string[] };

/** Returns where the model keys and MCP servers of all workspaces lead, each once. */
export async function readAddresses(db: pg.Client, providers: readonly string[], limit: number): Promise<Addresses> {
  const keys = await db.query<{ provider: string; config: unknown }>(
    `SELECT DISTINCT ON (provider, config->>'base_url') provider, config FROM connections
     WHERE provider = ANY($1::text[]) ORDER BY provider, config->>'base_url' LIMIT $2`,
    [providers, limit],
  );
  const servers = await db.query<{ url: string }>(
    'SELECT DISTINCT canonical_url AS url FROM mcp_servers ORDER BY url LIMIT $1',
    [limit],
  );
  return { keys: keys.rows, servers: servers.rows.map(({ url }) => url) };
}

function only<T>(rows: readonly T[]): T {
  const [row] = rows;
  if (row === undefined) throw new Error('the database answered without a row');
  return row;
}
