import { expect, test } from 'vitest';
import { runBaton } from '../testing/commands.ts';
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

test('a command finds the server that can write in a list of which the first is dead', async () => {
  await using db = await createTestDatabase();
  // Nobody listens at port 9 of this machine.
  const list = new URL(db.url);
  const { hostname, port, searchParams } = list;
  searchParams.set('host', `127.0.0.1,${searchParams.get('host') ?? hostname}`);
  searchParams.set('port', `9,${port}`);
  expect(await runBaton(['workspaces', 'list'], { DATABASE_URL: list.href })).toMatchObject({
    code: 0,
    err: '',
    out: 'There is no workspace yet.\n',
  });
});
