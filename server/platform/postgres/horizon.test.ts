import type { Pool, PoolClient } from 'pg';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { createTestDatabase, type TestDatabase } from '../../testing/postgres.ts';
import { readHorizon } from './horizon.ts';

let db: TestDatabase;
beforeAll(async () => {
  db = await createTestDatabase();
});
afterAll(() => db.close());

const INSERT = `INSERT INTO run_usage (id, tenant_id, project_id, workflow_id, action, quantity, microcredits, attempts, created_at)
  VALUES (gen_random_uuid(), 'acme', gen_random_uuid(), gen_random_uuid(), 'workflow_step', 1, 1, '[]', to_timestamp(0)) RETURNING seq::int`;
const insert = async (on: Pick<PoolClient, 'query'> = db.pool): Promise<number> => (await on.query(INSERT)).rows[0].seq;
const horizon = (waitMs?: number) => readHorizon(db.pool, 'run_usage', { ...(waitMs !== undefined && { waitMs }) });

test('an unused table has the horizon 0, and a used one that of its last number', async () => {
  expect(await readHorizon(db.pool, 'human_tasks')).toBe(0);
  expect(await horizon()).toBe(0);
  const last = await insert();
  expect(await horizon()).toBe(last);
});

test('it waits for those that may have drawn a number, and not for those that come later', async () => {
  const [before, later] = [await db.pool.connect(), await db.pool.connect()];
  await before.query('BEGIN');
  const held = await insert(before);
  expect(await horizon(20)).toBeNull();
  const last = await insert();
  let answers = 0;
  const query = async (...args: [string, unknown[]]) => {
    const answer = await db.pool.query(...args);
    answers += 1;
    return answer;
  };
  let found: number | null = -1;
  const reading = readHorizon({ query } as unknown as Pool, 'run_usage', { waitMs: 60_000 }).then(number => {
    found = number;
  });
  // It has read the number and the writers, and waits.
  await expect.poll(() => answers).toBeGreaterThan(2);
  await later.query('BEGIN');
  await insert(later);
  expect(found).toBe(-1);
  await before.query('COMMIT');
  await reading;
  expect(found).toBe(last);
  expect(held).toBeLessThan(last);
  await later.query('ROLLBACK');
  for (const client of [before, later]) client.release();
});

test('a cursor beside four writers, some of which hold their numbers, reads every row once', async () => {
  const { rows: before } = await db.pool.query('SELECT coalesce(max(seq), 0)::int AS last FROM run_usage');
  let cursor: number = before[0].last;
  const seen: number[] = [];
  const readNew = async () => {
    const upTo = await horizon(60_000);
    const { rows } = await db.pool.query('SELECT seq::int FROM run_usage WHERE seq > $1 AND seq <= $2 ORDER BY seq', [
      cursor,
      upTo,
    ]);
    for (const { seq } of rows) seen.push(seq);
    cursor = seen.at(-1) ?? cursor;
  };
  const written: number[] = [];
  let writing = 4;
  const write = async (writer: number) => {
    const client = await db.pool.connect();
    for (let n = 0; n < 60; n++) {
      await client.query('BEGIN');
      const seq = await insert(client);
      if (n % 10 === writer) await client.query('SELECT pg_sleep(0.03)');
      const isLost = n % 17 === 0;
      await client.query(isLost ? 'ROLLBACK' : 'COMMIT');
      if (!isLost) written.push(seq);
    }
    client.release();
    writing -= 1;
  };
  const writers = [0, 1, 2, 3].map(write);
  while (writing > 0) await readNew();
  await Promise.all(writers);
  await readNew();
  expect(seen).toEqual(written.sort((a, b) => a - b));
});

test('transactions that only read the table, or lock another one, are not waited for', async () => {
  const client = await db.pool.connect();
  await client.query(`BEGIN; SELECT FROM run_usage; LOCK TABLE runs IN ROW EXCLUSIVE MODE`);
  expect(await horizon(0)).not.toBeNull();
  await client.query('ROLLBACK');
  client.release();
});

test('a number that was rolled back is passed', async () => {
  const client = await db.pool.connect();
  await client.query('BEGIN');
  const lost = await insert(client);
  await client.query('ROLLBACK');
  client.release();
  expect(await horizon(0)).toBe(lost);
});

test('a transaction that blocks for ten seconds is logged once, with its pid', async () => {
  const client = await db.pool.connect();
  const { rows } = await client.query<{ pid: number }>('SELECT pg_backend_pid() AS pid');
  await client.query('BEGIN');
  await insert(client);
  const logged: unknown[] = [];
  const logger = { warn: (fields: unknown) => void logged.push(fields) };
  let now = performance.now();
  const clock = { now: () => now };
  const readNow = () => readHorizon(db.pool, 'run_usage', { logger: logger as never, waitMs: 0, clock });
  expect(await readNow()).toBeNull();
  now += 9_000;
  expect(await readNow()).toBeNull();
  expect(logged).toEqual([]);
  now += 2_000;
  for (let times = 0; times < 3; times++) expect(await readNow()).toBeNull();
  expect(logged).toEqual([{ pid: rows[0]?.pid, table: 'run_usage' }]);
  await client.query('COMMIT');
  client.release();
  expect(await readNow()).not.toBeNull();
});
