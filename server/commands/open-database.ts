import pg from 'pg';
import type { Services } from '../operation/services.ts';
import { systemClock } from '../platform/clock.ts';
import { createLogger } from '../platform/logger.ts';
import { DatabaseClient } from '../platform/postgres/client.ts';
import { createPool } from '../platform/postgres/database.ts';
import { createPrismaClient } from '../platform/postgres/prisma.ts';
import { reachDatabase } from '../platform/postgres/running.ts';
import { reason, StartupError } from '../platform/postgres/startup-error.ts';
import { loadConfig } from '../process/load-config.ts';
import type { Outcome } from './command-line.ts';

export type DatabaseServices = Pick<Services, 'prisma' | 'pool' | 'clock'> & { baseUrl: string };

/** Throws StartupError if `found`, an SQL expression, is false: this version has not migrated the database yet. */
export async function requireSchema(pool: Pick<Services['pool'], 'query'>, found: string): Promise<void> {
  const { rows } = await pool.query<{ found: boolean }>(`SELECT ${found} AS found`).catch(cause => {
    throw new StartupError(`The database cannot be reached: ${reason(cause)}`, { cause });
  });
  if (!rows[0]?.found)
    throw new StartupError('The database belongs to an older version of Baton: start this version once to migrate it.');
}

/**
 * Returns a pool for a command. `pool.end()` does not wait for its sessions to close: if PostgreSQL stops meanwhile,
 * each of them reports an error, which would end the command without the listener below.
 */
export function createCommandPool(
  url: string | undefined,
  options: { max: number; application_name?: string },
): pg.Pool {
  const pool = new pg.Pool({
    Client: DatabaseClient,
    connectionString: url,
    connectionTimeoutMillis: 10_000,
    ...options,
  });
  pool.on('error', () => undefined);
  return pool;
}

/**
 * Returns a function that runs `work` on the configured database, with or without a running server. It throws
 * StartupError if there is no such database, or if `schema`, an SQL expression, is false there.
 */
export const openDatabase =
  (schema: string) =>
  async (work: (services: DatabaseServices) => Promise<Outcome>): Promise<Outcome> => {
    const config = loadConfig();
    const logger = createLogger('silent');
    const database = await reachDatabase(config.database, logger);
    const pool = createPool(database.url, 4, logger);
    const prisma = createPrismaClient(pool);
    try {
      await requireSchema(pool, schema);
      return await work({ prisma, pool, clock: systemClock, baseUrl: config.http.url });
    } finally {
      await prisma.$disconnect();
      await pool.end();
      await database.close();
    }
  };
