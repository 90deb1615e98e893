import { PrismaPg } from '@prisma/adapter-pg';
import pino from 'pino';
import { expect, test } from 'vitest';
import { createTestDatabase } from '../../testing/postgres.ts';
import { isDatabaseAway } from './away.ts';
import { createPool } from './database.ts';
import { freePort } from './free-port.ts';
import { PrismaClient } from './generated/client.ts';

const logger = pino({ level: 'silent' });
const thrownBy = (work: Promise<unknown>) =>
  work.then(
    () => null,
    (error: unknown) => error,
  );

test('an unreachable database is away for every client', async () => {
  const pool = createPool(`postgresql://baton@127.0.0.1:${await freePort()}/baton`, 1, logger);
  const prisma = new PrismaClient({ adapter: new PrismaPg(pool) });
  const unresolved = createPool('postgresql://baton@nowhere.invalid/baton', 1, logger);
  try {
    for (const work of [
      () => pool.query('SELECT 1'),
      () => pool.connect(),
      () => prisma.tenant.count(),
      () => prisma.$queryRaw`SELECT 1`,
      () => unresolved.query('SELECT 1'),
    ]) {
      const error = await thrownBy(work());
      expect(isDatabaseAway(error), String(error)).toBe(true);
      expect(isDatabaseAway(new Error('about it', { cause: error }))).toBe(true);
    }
  } finally {
    await prisma.$disconnect();
    await pool.end();
    await unresolved.end();
  }
});

test('a session that is ended is away, for the statement in progress and for the next one', async () => {
  await using db = await createTestDatabase();
  const pool = createPool(db.url, 1, logger);
  const prisma = new PrismaClient({ adapter: new PrismaPg(pool) });
  const end = () =>
    db.pool.query(
      "SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE application_name = 'baton' AND datname = current_database()",
    );
  try {
    for (const query of [(text: string) => pool.query(text), (text: string) => prisma.$queryRawUnsafe(text)]) {
      await query('SELECT 1');
      const answer = thrownBy(query('SELECT pg_sleep(60)::text'));
      await until(
        db,
        "SELECT 1 FROM pg_stat_activity WHERE query LIKE '%pg_sleep(60)%' AND application_name = 'baton'",
      );
      await end();
      expect(isDatabaseAway(await answer)).toBe(true);
    }
  } finally {
    await prisma.$disconnect();
    await pool.end();
  }
});

async function until(db: { pool: { query(text: string): Promise<{ rows: unknown[] }> } }, text: string): Promise<void> {
  while ((await db.pool.query(text)).rows.length === 0);
}

test.each(['ENOTFOUND', 'ECONNREFUSED', 'ECONNRESET', 'ETIMEDOUT', 'ENOENT', '57P01', '53300'])(
  '%s of something else is not the database',
  code => {
    const cause = Object.assign(new Error(`getaddrinfo ${code} models.example.com`), { code });
    expect(isDatabaseAway(cause)).toBe(false);
    expect(isDatabaseAway(new TypeError('fetch failed', { cause }))).toBe(false);
  },
);

test('an error about the statement does not mean that the database is away', async () => {
  await using db = await createTestDatabase();
  expect(isDatabaseAway(await thrownBy(db.pool.query('SELECT nothing')))).toBe(false);
  expect(isDatabaseAway(await thrownBy(db.prisma.$queryRaw`SELECT nothing`))).toBe(false);
});

test('a database that is read-only, as after a failover, is away for writers', async () => {
  await using db = await createTestDatabase();
  const pool = createPool(db.url, 1, logger);
  const prisma = new PrismaClient({ adapter: new PrismaPg(pool) });
  const tenant = { slug: 'acme', name: 'Acme', createdAt: new Date(0) };
  try {
    await db.pool.query(`ALTER DATABASE ${new URL(db.url).pathname.slice(1)} SET default_transaction_read_only = on`);
    for (const work of [
      () => pool.query('CREATE TABLE any_table ()'),
      () => prisma.$executeRaw`DELETE FROM tenants`,
      () => prisma.tenant.create({ data: tenant }),
      () => prisma.$transaction(tx => tx.tenant.create({ data: tenant })),
    ]) {
      const error = await thrownBy(work());
      expect(isDatabaseAway(error), String(error)).toBe(true);
    }
  } finally {
    await prisma.$disconnect();
    await pool.end();
  }
});
