import pg from 'pg';
import { expect, test } from 'vitest';
import { createTestDatabase } from '../../testing/postgres.ts';
import { withConnectionLock } from './lock-queries.ts';

test('more lock holders than connections do not use up the pool', async () => {
  await using db = await createTestDatabase();
  const pool = new pg.Pool({ connectionString: db.url, max: 4, connectionTimeoutMillis: 10_000 });
  try {
    const numbers = Array.from({ length: 12 }, (_, n) => n);
    const lockAndQuery = (n: number) =>
      withConnectionLock({ pool }, `connection-${n}`, () => pool.query('SELECT $1::int AS n', [n]));
    const results = await Promise.all(numbers.map(lockAndQuery));
    expect(results.map(({ rows }) => rows[0].n)).toEqual(numbers);
  } finally {
    await pool.end();
  }
});
