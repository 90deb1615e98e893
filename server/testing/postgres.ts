import { randomBytes } from 'node:crypto';
import { setTimeout as delay } from 'node:timers/promises';
import pg from 'pg';
import { inject } from 'vitest';
import { DatabaseClient } from '../platform/postgres/client.ts';
import { withDatabase } from '../platform/postgres/cluster.ts';
import type { PrismaClient } from '../platform/postgres/generated/client.ts';
import { createPrismaClient } from '../platform/postgres/prisma.ts';
import { readOldLogs } from '../platform/postgres/readable-json.ts';
import { copyTemplate, dropDatabase, query } from './postgres-template.ts';

export type TestDatabase = {
  url: string;
  pool: pg.Pool;
  prisma: PrismaClient;
  /** Drops the database. Throws if a client was not released, because such a leak would exhaust a real pool. */
  close(): Promise<void>;
  [Symbol.asyncDispose](): Promise<void>;
};

/** An empty database, without any migration, for one test. */
export async function createEmptyDatabase(): Promise<{ url: string; [Symbol.asyncDispose](): Promise<void> }> {
  const server = withDatabase(inject('batonTemplate').url, 'postgres');
  const name = `baton_empty_${randomBytes(8).toString('hex')}`;
  await query(server, `CREATE DATABASE ${name}`);
  const url = withDatabase(server, name);
  return { url, [Symbol.asyncDispose]: () => dropDatabase(url) };
}

/** A fresh database with every migration applied, for one test or one test file. */
export async function createTestDatabase(): Promise<TestDatabase> {
  const url = await copyTemplate(inject('batonTemplate'));
  const pool = readOldLogs(
    new pg.Pool({ Client: DatabaseClient, connectionString: url, max: 10, application_name: 'baton-test' }),
  );
  // close() ends forgotten sessions by force; without a listener that would be an uncaught exception.
  pool.on('error', () => undefined);
  pool.on('connect', client => client.on('error', () => undefined));
  const prisma = createPrismaClient(pool);
  let closing: Promise<void> | undefined;
  const close = () => {
    closing ??= drop(url, pool, prisma);
    return closing;
  };
  return { url, pool, prisma, close, [Symbol.asyncDispose]: close };
}

async function drop(url: string, pool: pg.Pool, prisma: PrismaClient): Promise<void> {
  const server = withDatabase(url, 'postgres');
  const name = new URL(url).pathname.slice(1);
  await prisma.$disconnect();
  const held = await heldClients(pool);
  // end() would wait forever for a client that is never released.
  if (held === 0) await pool.end();
  try {
    if (held > 0) throw new Error(`${held} clients of the pool were not released`);
    // PostgreSQL itself waits up to 5 s for sessions that are about to end.
    await query(server, `DROP DATABASE ${name}`);
  } catch (error) {
    const sessions = await query(
      server,
      `SELECT application_name, state, left(query, 200) AS query FROM pg_stat_activity WHERE datname = '${name}'`,
    );
    await dropDatabase(url);
    throw new Error(`Leaked connections in a test: ${JSON.stringify(sessions)}`, { cause: error });
  }
}

/** Returns how many clients are never released; one whose answer is on its way is released within moments. */
async function heldClients(pool: pg.Pool): Promise<number> {
  const deadline = performance.now() + 5_000;
  const busyClients = () => pool.totalCount - pool.idleCount;
  while (busyClients() > 0 && performance.now() < deadline) await delay(1);
  return busyClients();
}
