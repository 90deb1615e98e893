import pino from 'pino';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { createTestDatabase, type TestDatabase } from '../../testing/postgres.ts';
import { createPool } from './database.ts';
import { type Queryable, type Transaction, transact } from './transaction.ts';

let db: TestDatabase;
beforeAll(async () => {
  db = await createTestDatabase();
  await db.pool.query('CREATE TABLE kept (n int)');
});
afterAll(() => db.close());

const keptRows = async () => (await db.pool.query('SELECT n FROM kept ORDER BY n')).rows.map(({ n }) => n);

test('is committed completely or not at all', async () => {
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
  expect(await keptRows()).toEqual([1]);
});

test('a connection that is lost between two statements fails the transaction, not the process', async () => {
  await using pool = Object.assign(createPool(db.url, 2, pino({ level: 'silent' })), {
    [Symbol.asyncDispose]: () => pool.end(),
  });
  const cut = transact(pool, async client => {
    await client.query('INSERT INTO kept VALUES (3)');
    const { rows } = await client.query('SELECT pg_backend_pid() AS pid');
    // Not events.once, which also listens to `error` and would reject before the test awaits it.
    const { promise: gone, resolve } = Promise.withResolvers<void>();
    client.once('end', resolve);
    await db.pool.query('SELECT pg_terminate_backend($1)', [rows[0].pid]);
    await gone;
    await client.query('INSERT INTO kept VALUES (4)');
  });
  await expect(cut).rejects.toThrow();
  expect(await keptRows()).toEqual([1]);
  // The pool continues with another connection.
  await transact(pool, client => client.query('INSERT INTO kept VALUES (5)'));
  expect(await keptRows()).toEqual([1, 5]);
});

describe('with Prisma', () => {
  const slugs = async () => (await db.prisma.tenant.findMany({ orderBy: { slug: 'asc' } })).map(({ slug }) => slug);
  const tenant = (slug: string) => ({ slug, name: slug, createdAt: new Date(0) });

  test('Prisma and SQL see and commit the same transaction', async () => {
    await transact(db, async tx => {
      await tx.tenant.create({ data: tenant('both') });
      const { rows } = await tx.query('SELECT name FROM tenants WHERE slug = $1', ['both']);
      expect(rows).toEqual([{ name: 'both' }]);
      await tx.query("UPDATE tenants SET name = 'changed' WHERE slug = $1", ['both']);
      expect(await tx.tenant.findUnique({ where: { slug: 'both' } })).toMatchObject({ name: 'changed' });
      // Another connection does not see it yet.
      expect(await slugs()).toEqual([]);
    });
    expect(await slugs()).toEqual(['both']);
  });

  test('both are rolled back together', async () => {
    const failing = transact(db, async tx => {
      await tx.tenant.create({ data: tenant('prisma') });
      await tx.query('INSERT INTO kept VALUES (6)');
      throw new Error('changed my mind');
    });
    await expect(failing).rejects.toThrow('changed my mind');
    const failed = transact(db, async tx => {
      await tx.tenant.create({ data: tenant('prisma') });
      await tx.query('SELECT nothing');
    });
    await expect(failed).rejects.toThrow('column "nothing" does not exist');
    expect(await slugs()).toEqual(['both']);
    expect(await keptRows()).not.toContain(6);
  });

  test('concurrent and nested transactions use their own connections', async () => {
    const pid = async (from: Queryable) => (await from.query('SELECT pg_backend_pid() AS pid')).rows[0].pid;
    const prismaPid = async (tx: Transaction) =>
      (await tx.$queryRaw<{ pid: number }[]>`SELECT pg_backend_pid() AS pid`)[0]?.pid;
    const together = Promise.withResolvers<void>();
    let begun = 0;
    const pids = await Promise.all(
      Array.from({ length: 4 }, () =>
        transact(db, async tx => {
          begun += 1;
          if (begun === 4) together.resolve();
          await together.promise;
          const own = await pid(tx);
          expect(await prismaPid(tx)).toBe(own);
          const inner = await transact(db, async nested => {
            expect(await prismaPid(nested)).toBe(await pid(nested));
            return pid(nested);
          });
          expect(inner).not.toBe(own);
          expect(await pid(tx)).toBe(own);
          return own;
        }),
      ),
    );
    expect(new Set(pids).size).toBe(4);
  });

  test('SQL is refused once the transaction has ended, because its connection then belongs to another caller', async () => {
    let ended: Transaction | undefined;
    await transact(db, async tx => {
      ended = tx;
    });
    expect(() => ended?.query('SELECT 1')).toThrow('The transaction has ended.');
  });
});
