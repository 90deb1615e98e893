import { expect, test } from 'vitest';
import { createTestDatabase } from './postgres.ts';

test('a test database is migrated, private and reachable by SQL and by Prisma', async () => {
  await using first = await createTestDatabase();
  await using second = await createTestDatabase();
  await first.prisma.tenant.create({ data: { slug: 'main', name: 'Main', createdAt: new Date(0) } });
  const { rows } = await first.pool.query('SELECT slug FROM tenants');
  expect(rows).toEqual([{ slug: 'main' }]);
  expect(await second.prisma.tenant.count()).toBe(0);
});

test('a client that is never released fails the test', async () => {
  const database = await createTestDatabase();
  await database.pool.connect();
  await expect(database.close()).rejects.toThrow('Leaked connections');
});

test('a pool of the test that stays open fails the test', async () => {
  const { default: pg } = await import('pg');
  const database = await createTestDatabase();
  const pool = new pg.Pool({ connectionString: database.url, application_name: 'forgotten' });
  pool.on('error', () => undefined);
  await pool.query('SELECT 1');
  await expect(database.close()).rejects.toThrow('forgotten');
  await pool.end();
});
