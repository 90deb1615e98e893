import { afterAll, beforeAll, expect, test } from 'vitest';
import { createTestDatabase, type TestDatabase } from '../../testing/postgres.ts';
import { expectOwnBackends } from './own-backends.ts';

let db: TestDatabase;
beforeAll(async () => {
  db = await createTestDatabase();
  // Objects in this schema are found before PostgreSQL's own, as if the database were another product.
  await db.pool.query('CREATE SCHEMA stubs');
  await db.pool.query(
    `ALTER DATABASE ${new URL(db.url).pathname.slice(1)} SET search_path = stubs, pg_catalog, public`,
  );
});
afterAll(() => db.close());

const REFUSED = {
  name: 'StartupError',
  message: expect.stringMatching(/^The session locks of the database lock nothing .*Baton needs PostgreSQL[^\n]*\.$/),
};

test('real session locks are accepted by many starts at once, and released', async () => {
  await Promise.all(Array.from({ length: 8 }, () => expectOwnBackends(db.url)));
  const { rows } = await db.pool.query(`SELECT FROM pg_catalog.pg_locks
     WHERE locktype = 'advisory' AND database = (SELECT oid FROM pg_database WHERE datname = current_database())`);
  expect(rows).toEqual([]);
});

test.each([
  [
    'a lock that every session gets',
    'CREATE FUNCTION stubs.pg_try_advisory_lock(bigint) RETURNS bool LANGUAGE sql AS $$ SELECT true $$',
    'DROP FUNCTION stubs.pg_try_advisory_lock',
  ],
  [
    'a lock that sessions share',
    'CREATE FUNCTION stubs.pg_try_advisory_lock(bigint) RETURNS bool LANGUAGE sql AS $$ SELECT pg_try_advisory_lock_shared($1) $$',
    'DROP FUNCTION stubs.pg_try_advisory_lock',
  ],
  [
    'a lock that no session gets',
    'CREATE FUNCTION stubs.pg_try_advisory_lock(bigint) RETURNS bool LANGUAGE sql AS $$ SELECT false $$',
    'DROP FUNCTION stubs.pg_try_advisory_lock',
  ],
  [
    'a list of locks that is empty',
    'CREATE VIEW stubs.pg_locks AS SELECT * FROM pg_catalog.pg_locks WHERE false',
    'DROP VIEW stubs.pg_locks',
  ],
  [
    'a lock that stays',
    'CREATE FUNCTION stubs.pg_advisory_unlock(bigint) RETURNS bool LANGUAGE sql AS $$ SELECT true $$',
    'DROP FUNCTION stubs.pg_advisory_unlock',
  ],
])('%s is refused in one line', async (_, create, drop) => {
  await db.pool.query(create);
  try {
    await expect(expectOwnBackends(db.url)).rejects.toMatchObject(REFUSED);
  } finally {
    await db.pool.query(drop);
  }
});
