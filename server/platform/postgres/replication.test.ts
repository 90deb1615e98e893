import { expect, test } from 'vitest';
import { createTestDatabase } from '../../testing/postgres.ts';
import { readReplication, requireReplication, watchReplication } from './replication.ts';

type Row = { in_recovery: boolean; waits: boolean; has_replicas: boolean };
const primary = { in_recovery: false, waits: false, has_replicas: false };
const standby = { in_recovery: true, waits: true, has_replicas: false };

/** Returns a database that answers with `row`, or fails with `error`. */
function database(row: Row) {
  const db = {
    row,
    error: undefined as Error | undefined,
    query: async () => {
      if (db.error !== undefined) throw db.error;
      return { rows: [db.row] };
    },
  };
  return { db, queryable: db as never };
}

test.each([
  [primary, 'none'],
  [{ ...primary, has_replicas: true }, 'async'],
  [{ ...primary, has_replicas: true, waits: true }, 'sync'],
  // Commits wait until a replica is connected again.
  [{ ...primary, waits: true }, 'sync'],
  [standby, undefined],
])('%j is %s', async (row, state) => {
  expect(await readReplication(database(row).queryable)).toBe(state);
});

test('missing replication that is required is refused in one line with the actual state', async () => {
  await requireReplication(database({ ...primary, waits: true }).queryable);
  await expect(requireReplication(database(primary).queryable)).rejects.toMatchObject({
    name: 'StartupError',
    message: expect.stringMatching(/^BATON_REPLICATION is "require" .* \(it has no replicas\): set [^\n]*\.$/),
  });
  await expect(requireReplication(database({ ...primary, has_replicas: true }).queryable)).rejects.toThrow(
    '(its replicas are asynchronous)',
  );
});

function watched(row: Row, mode: 'warn' | 'managed' = 'warn') {
  const { db, queryable } = database(row);
  const lines: string[] = [];
  const log = (level: string) => (fields: { replication?: string }) =>
    void lines.push(`${level} ${fields.replication ?? 'failed'}`);
  const logger = { info: log('info'), warn: log('warn') } as never;
  let ring: (() => void) | undefined;
  const alarm = (_: number, next: () => void) => {
    ring = next;
    return () => undefined;
  };
  const watch = watchReplication({ pool: queryable, mode, logger, alarm });
  const look = async () => {
    const before = ring;
    before?.();
    await expect.poll(() => ring !== before).toBe(true);
  };
  return { db, watch, look, lines };
}

test('each change is one line: a warning where less is kept than before, and none while nothing changes', async () => {
  const { db, watch, look, lines } = watched({ ...primary, waits: true });
  expect(watch.state()).toBeUndefined();
  await look();
  await look();
  db.row = { ...primary, has_replicas: true };
  await look();
  await look();
  db.row = primary;
  await look();
  db.row = { ...primary, waits: true };
  await look();
  expect(lines).toEqual(['info sync', 'warn async', 'warn none', 'info sync']);
  await watch.close();
});

test('one machine without replicas has one quiet line', async () => {
  const { watch, look, lines } = watched(primary);
  await look();
  await look();
  expect([watch.state(), lines]).toEqual(['none', ['info none']]);
});

test('the last state is kept while the database is away or not promoted yet', async () => {
  const { db, watch, look, lines } = watched({ ...primary, waits: true });
  await look();
  db.error = new Error('timeout exceeded when trying to connect');
  await look();
  db.error = undefined;
  db.row = standby;
  await look();
  expect([watch.state(), lines]).toEqual(['sync', ['info sync']]);
  db.error = new Error('permission denied');
  await look();
  expect([watch.state(), lines]).toEqual(['sync', ['info sync', 'warn failed']]);
});

test('if a hosting service manages the replication, nothing is queried', () => {
  const { db, watch, lines } = watched(primary, 'managed');
  db.error = new Error('asked');
  expect([watch.state(), lines]).toEqual(['managed', ['info managed']]);
});

test('PostgreSQL answers the question, also to a user without rights', async () => {
  await using db = await createTestDatabase();
  expect(await readReplication(db.pool)).toBe('none');
  const client = await db.pool.connect();
  try {
    await client.query('BEGIN; CREATE ROLE without_rights; SET LOCAL ROLE without_rights');
    expect(await readReplication(client)).toBe('none');
  } finally {
    await client.query('ROLLBACK');
    client.release();
  }
});
