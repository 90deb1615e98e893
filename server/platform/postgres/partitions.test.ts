import pg from 'pg';
import { pino } from 'pino';
import { afterEach, beforeEach, expect, test } from 'vitest';
import { createTestDatabase, type TestDatabase } from '../../testing/postgres.ts';
import { ManualClock } from '../clock.ts';
import { monthOf } from './months.ts';
import { ensurePartitions, listPartitions } from './partitions.ts';

let db: TestDatabase;
const lines: string[] = [];
const logger = pino({ level: 'warn' }, { write: (line: string) => lines.push(line) });
const NOW = Date.UTC(2026, 10, 21);
const ensure = (pool = db.pool) => ensurePartitions(pool, new ManualClock(NOW), logger);

beforeEach(async () => {
  lines.length = 0;
  db = await createTestDatabase();
});
afterEach(() => db.close());

const idOf = (at: string) =>
  `${Date.parse(at)
    .toString(16)
    .padStart(12, '0')
    .replace(/^(.{8})/, '$1-')}-7abc-8000-000000000001`;

/** Writes an event like the log does, and returns the partition that holds it. */
async function write(runId: string, seq = 1): Promise<string> {
  const { rows } = await db.pool.query(
    `INSERT INTO run_events VALUES ($1, $2, 'step_log', 'a', 1, '{}', to_timestamp(0))
     RETURNING tableoid::regclass::text AS place`,
    [runId, seq],
  );
  return rows[0].place;
}

const places = async (runId: string) =>
  (
    await db.pool.query(
      'SELECT tableoid::regclass::text AS place, seq FROM run_events WHERE run_id = $1 ORDER BY seq',
      [runId],
    )
  ).rows.map(({ place, seq }) => `${place} ${seq}`);

test('the current month and the next two get partitions, in any time zone of the session', async () => {
  const elsewhere = new pg.Pool({ connectionString: db.url, max: 1, options: '-c timezone=Asia/Kathmandu' });
  const made = await ensure(elsewhere);
  expect(made).toEqual(
    ['run_events', 'run_payloads', 'run_usage'].flatMap(table =>
      ['2026_11', '2026_12', '2027_01'].map(month => `${table}_${month}`),
    ),
  );
  const found = await listPartitions(elsewhere);
  expect(found.map(({ name, from, to }) => ({ name, from, to }))).toEqual(
    made.map((name, index) => ({ name, ...monthOf(NOW, index % 3) })),
  );
  expect(await listPartitions(db.pool)).toEqual(found);
  expect(await ensure(elsewhere)).toEqual([]);
  await elsewhere.end();
  expect(await write(idOf('2026-11-01T00:00:00.000Z'))).toBe('run_events_2026_11');
  expect(await write(idOf('2026-11-30T23:59:59.999Z'))).toBe('run_events_2026_11');
  expect(await write(idOf('2026-12-01T00:00:00.000Z'))).toBe('run_events_2026_12');
  expect(await write(idOf('2026-10-31T23:59:59.999Z'))).toBe('run_events_default');
  expect(await write('f47ac10b-58cc-4372-a567-0e02b2c3d479')).toBe('run_events_default');
  expect(lines).toEqual([]);
});

test('processes that start concurrently create each partition once', async () => {
  const made = await Promise.all([ensure(), ensure(), ensure()]);
  expect(made.flat()).toHaveLength(9);
  expect(lines).toEqual([]);
});

test('rows that DEFAULT took before a partition existed move into it, and so does the fence', async () => {
  const [inside, outside] = [idOf('2026-11-20T10:00:00Z'), idOf('2026-10-20T10:00:00Z')];
  for (const runId of [inside, outside]) for (const seq of [1, 2]) await write(runId, seq);
  await ensure();
  expect(await places(inside)).toEqual(['run_events_2026_11 1', 'run_events_2026_11 2']);
  expect(await places(outside)).toEqual(['run_events_default 1', 'run_events_default 2']);
  await expect(write(inside, 2)).rejects.toMatchObject({ code: '23505', constraint: 'run_events_2026_11_pkey' });
  await expect(write(outside, 2)).rejects.toMatchObject({ code: '23505', constraint: 'run_events_default_pkey' });
});

test('a month with too many rows in DEFAULT stays there, with a line in the log', async () => {
  const runId = idOf('2026-11-20T10:00:00Z');
  await db.pool.query(
    `INSERT INTO run_events SELECT $1, n, 'step_log', 'a', 1, '{}', to_timestamp(0) FROM generate_series(1, 50001) n`,
    [runId],
  );
  expect(await ensure()).not.toContain('run_events_2026_11');
  expect(lines.join()).toContain('too much of a month');
  expect(await write(runId, 60_000)).toBe('run_events_default');
});

test('a partition that cannot be created because of a lock is logged, and does not fail the start', async () => {
  const other = await db.pool.connect();
  await other.query('BEGIN');
  await other.query('LOCK TABLE run_events_default IN ACCESS EXCLUSIVE MODE');
  const made = await ensure();
  await other.query('ROLLBACK');
  other.release();
  expect(made).not.toContain('run_events_2026_11');
  expect(made).toContain('run_payloads_2026_11');
  expect(lines).toHaveLength(3);
  expect(await ensure()).toEqual(['run_events_2026_11', 'run_events_2026_12', 'run_events_2027_01']);
});

test('an old log that extends into the current month is not split', async () => {
  await db.pool.query(`
    CREATE TABLE run_events_before_2026_12 (LIKE run_events INCLUDING ALL);
    ALTER TABLE run_events ATTACH PARTITION run_events_before_2026_12
      FOR VALUES FROM (MINVALUE) TO ('${idOf('2026-12-01T00:00:00Z').slice(0, 13)}-0000-0000-000000000000')`);
  expect(await ensure()).not.toContain('run_events_2026_11');
  expect((await listPartitions(db.pool))[0]).toMatchObject({
    name: 'run_events_before_2026_12',
    from: Number.NEGATIVE_INFINITY,
    to: Date.UTC(2026, 11, 1),
  });
  expect(await write(idOf('2026-11-30T23:59:59.999Z'))).toBe('run_events_before_2026_12');
  expect(await write(idOf('2026-12-01T00:00:00.000Z'))).toBe('run_events_2026_12');
});

test('partitions of logs have full pages and are rarely vacuumed', async () => {
  await ensure();
  const { rows } = await db.pool.query(`SELECT reloptions FROM pg_class WHERE relname = 'run_events_2026_11'`);
  expect(rows[0].reloptions).toContain('autovacuum_vacuum_insert_scale_factor=0.5');
});
