import pino from 'pino';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { createTestDatabase, type TestDatabase } from '../../testing/postgres.ts';
import { createPool } from './database.ts';
import { transact } from './transaction.ts';

let db: TestDatabase;
beforeAll(async () => {
  db = await createTestDatabase();
  await db.pool.query('CREATE TABLE kept (n int)');
});
afterAll(() => db.close());

const kept = async () => (await db.pool.query('SELECT n FROM kept ORDER BY n')).rows.map(({ n }) => n);

test('is committed whole, or not at all', async () => {
  expect(
    await transact(db.pool, async client => {
      await client.query('INSERT INTO kept VALUES (1)');
      return 'done';
    }),
  ).toBe('done');
  const failing = transact(db.pool, async client => {
    await client.query('INSERT INTO kept VALUES (2)');
    throw new Error('changed my mind');
  });
  await expect(failing).rejects.toThrow('changed my mind');
  expect(await kept()).toEqual([1]);
});

test('a connection that is lost between two statements fails the transaction, not the process', async () => {
  await using pool = Object.assign(createPool(db.url, 2, pino({ level: 'silent' })), {
    [Symbol.asyncDispose]: () => pool.end(),
  });
  const cut = transact(pool, async client => {
    await client.query('INSERT INTO kept VALUES (3)');
    const { rows } = await client.query('SELECT pg_backend_pid() AS pid');
    // Not events.once: it listens to `error` too, and rejects before anybody awaits it.
    const { promise: gone, resolve } = Promise.withResolvers<void>();
    client.once('end', resolve);
    await db.pool.query('SELECT pg_terminate_backend($1)', [rows[0].pid]);
    await gone;
    await client.query('INSERT INTO kept VALUES (4)');
  });
  await expect(cut).rejects.toThrow();
  expect(await kept()).toEqual([1]);
  // And the pool goes on with another.
  await transact(pool, client => client.query('INSERT INTO kept VALUES (5)'));
  expect(await kept()).toEqual([1, 5]);
});
