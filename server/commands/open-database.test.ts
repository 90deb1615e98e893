import { expect, test } from 'vitest';
import { createTestDatabase } from '../testing/postgres.ts';
import { createCommandPool } from './open-database.ts';

test('a session that PostgreSQL ends does not end the command', async () => {
  await using db = await createTestDatabase();
  const pool = createCommandPool(db.url, { max: 1 });
  try {
    const { rows } = await pool.query<{ pid: number }>('SELECT pg_backend_pid() AS pid');
    // `once` of node:events would also listen for errors.
    const lost = new Promise(resolve => pool.once('remove', resolve));
    await db.pool.query('SELECT pg_terminate_backend($1)', [rows[0]?.pid]);
    await lost;
    expect((await pool.query('SELECT 1')).rowCount).toBe(1);
  } finally {
    await pool.end();
  }
});
