import { join } from 'node:path';
import pg from 'pg';
import { createLogger } from '../../server/platform/logger.ts';
import { postmaster } from '../../server/platform/postgres/cluster.ts';
import { startEmbedded } from '../../server/platform/postgres/embedded.ts';
import type { Folder } from './folder.ts';

export type BenchPostgres = { url: string; version: string; postmaster: number; close(): Promise<void> };

/**
 * Starts a separate PostgreSQL in `folder` with the settings of Baton's own embedded one (docs/operations.md): fsync, full page writes and
 * synchronous commits are on. Every system on PostgreSQL gets the same settings. `statements` loads pg_stat_statements.
 */
export async function startPostgres(folder: Folder, connections: number, statements = false): Promise<BenchPostgres> {
  const logger = createLogger('silent');
  let embedded = await startEmbedded(folder.path, connections, logger);
  if (statements) {
    await query(embedded.url, `ALTER SYSTEM SET shared_preload_libraries = 'pg_stat_statements'`);
    await embedded.close();
    embedded = await startEmbedded(folder.path, connections, logger);
    await query(embedded.url, 'CREATE EXTENSION pg_stat_statements');
  }
  const running = await postmaster(join(folder.path, 'postgres'));
  if (!running) throw new Error('PostgreSQL has no postmaster.');
  const [row] = await query(embedded.url, 'SHOW server_version');
  return { url: embedded.url, version: String(row?.server_version), postmaster: running.pid, close: embedded.close };
}

async function query(url: string, sql: string): Promise<Record<string, unknown>[]> {
  const client = new pg.Client({ connectionString: url });
  await client.connect();
  try {
    return (await client.query(sql)).rows;
  } finally {
    await client.end();
  }
}
