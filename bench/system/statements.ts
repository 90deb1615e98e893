import type pg from 'pg';

/**
 * PostgreSQL's statistics of the measured part: statements by total time (pg_stat_statements), WAL and fsyncs
 * (pg_stat_wal, pg_stat_io), and the number of HOT updates (pg_stat_user_tables). Needs `startPostgres(…, true)`.
 */
export function statementsOf(pool: pg.Pool): { begin(): Promise<void>; end(): Promise<void> } {
  const reset = `SELECT pg_stat_statements_reset(), pg_stat_reset(), pg_stat_reset_shared('wal'), pg_stat_reset_shared('io')`;
  return {
    begin: async () => void (await pool.query(reset)),
    end: async () => {
      for (const [title, sql] of reports) {
        const { rows } = await pool.query(sql);
        process.stdout.write(`\n${title}\n`);
        console.table(rows);
      }
    },
  };
}

const reports: [title: string, sql: string][] = [
  [
    'statements by time',
    `SELECT calls::int, round(total_exec_time)::int AS ms, round((total_exec_time / calls)::numeric, 3)::float AS "ms each",
            round(rows::numeric / calls, 1)::float AS "rows each", shared_blks_hit::int AS hit, shared_blks_read::int AS read,
            shared_blks_dirtied::int AS dirtied, wal_records::int AS "wal records", (wal_bytes / 1024)::int AS "wal KiB",
            wal_fpi::int AS fpi, left(regexp_replace(query, '\\s+', ' ', 'g'), 90) AS statement
     FROM pg_stat_statements ORDER BY total_exec_time DESC LIMIT 12`,
  ],
  [
    'write-ahead log',
    `SELECT wal_records::int AS records, wal_fpi::int AS fpi, (wal_bytes / 1024)::int AS "KiB", wal_buffers_full::int AS "buffers full",
            (SELECT sum(writes)::int FROM pg_stat_io WHERE object = 'wal') AS writes,
            (SELECT sum(fsyncs)::int FROM pg_stat_io WHERE object = 'wal') AS fsyncs FROM pg_stat_wal`,
  ],
  [
    'tables (a session tells its last second only when it is idle for ten: the counts are a little low)',
    `SELECT relname AS table, n_tup_ins::int AS inserted, n_tup_upd::int AS updated, n_tup_hot_upd::int AS "of them HOT",
            n_tup_del::int AS deleted, n_dead_tup::int AS dead, idx_scan::int AS "index scans", seq_scan::int AS "seq scans",
            pg_size_pretty(pg_relation_size(relid)) AS size, pg_size_pretty(pg_indexes_size(relid)) AS indexes
     FROM pg_stat_user_tables WHERE n_tup_ins + n_tup_upd + n_tup_del > 0 ORDER BY n_tup_ins + n_tup_upd DESC LIMIT 12`,
  ],
];
