import { cp, mkdir, mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { basename, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import pg from 'pg';
import { afterAll, beforeAll, expect, inject, test } from 'vitest';
import { withDatabase } from './cluster.ts';
import { migrate, readSchema } from './migrate.ts';
import { createSchemaEngine } from './schema-engine.ts';
import { StartupError } from './startup-error.ts';

const prisma = fileURLToPath(new URL('../../../prisma', import.meta.url));
const admin = new pg.Pool({ connectionString: withDatabase(inject('batonTemplate').url, 'postgres'), max: 2 });
let counter = 0;
let folder: string;

beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), 'baton-migrate-'));
});
afterAll(async () => {
  await admin.end();
  await rm(folder, { recursive: true, force: true });
});

/** An empty database, dropped at the end with all sessions that are still open. */
async function emptyDatabase() {
  const name = `baton_migrate_${process.pid}_${counter++}`;
  await admin.query(`CREATE DATABASE ${name}`);
  const url = withDatabase(inject('batonTemplate').url, name);
  const pool = new pg.Pool({ connectionString: url, max: 2 });
  return {
    url,
    pool,
    async [Symbol.asyncDispose]() {
      await pool.end();
      await admin.query(`DROP DATABASE ${name}`);
    },
  };
}

/** Returns a copy of the prisma folder with one more migration. */
async function withMigration(script: string): Promise<string> {
  const dir = join(folder, String(counter++));
  await cp(prisma, dir, { recursive: true });
  await mkdir(join(dir, 'migrations', '9999_extra'), { recursive: true });
  await writeFile(join(dir, 'migrations', '9999_extra', 'migration.sql'), script);
  return dir;
}

/** Returns the prisma folder as it was when `last` was its newest migration. */
async function asOf(last: string): Promise<string> {
  const dir = join(folder, String(counter++));
  await cp(prisma, dir, {
    recursive: true,
    filter: path => !/\/migrations\/\d{4}_[^/]+$/.test(path) || basename(path) <= last,
  });
  return dir;
}

const refusal = async (migrating: Promise<unknown>): Promise<string> => {
  const error = await migrating.catch((thrown: unknown) => thrown);
  expect(error).toBeInstanceOf(StartupError);
  expect((error as Error).message).not.toContain('\n');
  return (error as Error).message;
};

/**
 * Returns everything that the catalog contains about our tables, as comparable lines. A partitioned table represents
 * its partitions, and a domain, which Prisma cannot name, appears as the type that it restricts.
 */
async function catalog(pool: pg.Pool): Promise<{ tables: string[]; rules: string[] }> {
  const { rows: columns } = await pool.query<{ line: string }>(
    `SELECT format('%s.%s %s %s %s', c.relname, a.attname, format_type(coalesce(nullif(t.typbasetype, 0), t.oid), a.atttypmod), a.attnotnull,
                   pg_get_expr(d.adbin, d.adrelid)) AS line
     FROM pg_attribute a JOIN pg_class c ON c.oid = a.attrelid JOIN pg_type t ON t.oid = a.atttypid
     LEFT JOIN pg_attrdef d ON d.adrelid = c.oid AND d.adnum = a.attnum
     WHERE c.relnamespace = 'public'::regnamespace AND c.relkind IN ('r', 'p') AND NOT c.relispartition
       AND a.attnum > 0 AND NOT a.attisdropped AND c.relname <> '_prisma_migrations' ORDER BY 1`,
  );
  const { rows: rules } = await pool.query<{ line: string }>(
    `WITH ours AS (SELECT oid FROM pg_class WHERE relnamespace = 'public'::regnamespace AND NOT relispartition
                                               AND relname <> '_prisma_migrations')
     SELECT replace(pg_get_indexdef(indexrelid), ' ON ONLY ', ' ON ') AS line FROM pg_index WHERE indrelid IN (TABLE ours)
     UNION SELECT conrelid::regclass || ' ' || pg_get_constraintdef(oid) FROM pg_constraint
     WHERE conrelid IN (TABLE ours) AND contype IN ('f', 'u', 'p') ORDER BY 1`,
  );
  return { tables: columns.map(row => row.line), rules: rules.map(row => row.line) };
}

test('the migrations create what schema.prisma describes; beyond that they may only add indexes', async () => {
  await using migrated = await emptyDatabase();
  await using described = await emptyDatabase();
  await migrate(migrated.url);
  const schema = await readSchema();
  const engine = await createSchemaEngine(described.pool, [schema]);
  const { stdout } = await engine.diff({
    from: { tag: 'empty' },
    to: { tag: 'schemaDatamodel', files: [{ path: schema[0], content: schema[1] }] },
    script: true,
    exitCode: null,
    filters: { externalTables: [], externalEnums: [] },
  });
  engine.free();
  await described.pool.query(stdout ?? '');
  const [ours, theirs] = await Promise.all([catalog(migrated.pool), catalog(described.pool)]);
  expect(theirs.tables.length).toBeGreaterThan(50);
  expect(ours.tables).toEqual(theirs.tables);
  expect(ours.rules).toEqual(expect.arrayContaining(theirs.rules));
  const extra = ours.rules.filter(line => !theirs.rules.includes(line));
  expect(extra.filter(line => !/^CREATE (UNIQUE )?INDEX/.test(line))).toEqual([]);
});

test('applying again does nothing', async () => {
  await using database = await emptyDatabase();
  const applied = await migrate(database.url);
  expect(applied).toContain('0001_init');
  expect(await migrate(database.url)).toEqual([]);
  const { rows } = await database.pool.query('SELECT migration_name, applied_steps_count FROM _prisma_migrations');
  expect(rows).toHaveLength(applied.length);
});

test('of several processes that start concurrently, one migrates and the others wait', async () => {
  await using database = await emptyDatabase();
  const results = await Promise.all([migrate(database.url), migrate(database.url), migrate(database.url)]);
  expect(results.filter(names => names.length > 0)).toHaveLength(1);
  const { rows } = await database.pool.query('SELECT count(*)::int AS n FROM pg_tables WHERE tablename = $1', ['runs']);
  expect(rows).toEqual([{ n: 1 }]);
});

test('a migration in progress in another process is awaited, not treated as failed', async () => {
  await using database = await emptyDatabase();
  await migrate(database.url);
  const other = await database.pool.connect();
  const last = '(SELECT max(migration_name) FROM _prisma_migrations)';
  await other.query('SELECT pg_advisory_lock(4216033)');
  await other.query(`UPDATE _prisma_migrations SET finished_at = NULL WHERE migration_name = ${last}`);
  const migrated = migrate(database.url);
  const waits =
    "SELECT count(*)::int AS n FROM pg_locks WHERE locktype = 'advisory' AND NOT granted AND objid = 4216033";
  await expect.poll(async () => (await database.pool.query(waits)).rows[0].n).toBe(1);
  await other.query(`UPDATE _prisma_migrations SET finished_at = started_at WHERE migration_name = ${last}`);
  await other.query('SELECT pg_advisory_unlock(4216033)');
  other.release();
  expect(await migrated).toEqual([]);
});

test('a migration is applied completely or not at all, and its failure is one line with the cause', async () => {
  await using database = await emptyDatabase();
  const broken = await withMigration('CREATE TABLE half (a int); -- a comment; with a semicolon\nSELECT nonsense();');
  expect(await refusal(migrate(database.url, undefined, broken))).toMatch(
    /9999_extra.*function nonsense\(\) does not exist/,
  );
  const { rows } = await database.pool.query("SELECT to_regclass('half') AS half, to_regclass('runs') AS runs");
  expect(rows).toEqual([{ half: null, runs: 'runs' }]);
  expect(await refusal(migrate(database.url, undefined, broken))).toMatch(/9999_extra failed before.*migrate resolve/);
});

test('function bodies and quoted semicolons survive', async () => {
  await using database = await emptyDatabase();
  const body = "CREATE FUNCTION two() RETURNS text LANGUAGE plpgsql AS $$ BEGIN RETURN 'a;b'; END $$;";
  await migrate(database.url, undefined, await withMigration(body));
  expect((await database.pool.query('SELECT two()')).rows).toEqual([{ two: 'a;b' }]);
});

test('a database of a newer version, and an edited migration, are refused', async () => {
  await using database = await emptyDatabase();
  const newer = await withMigration('CREATE TABLE later (a int);');
  await migrate(database.url, undefined, newer);
  expect(await refusal(migrate(database.url))).toMatch(/9999_extra.*newer version/);
  await writeFile(join(newer, 'migrations', '9999_extra', 'migration.sql'), 'CREATE TABLE other (a int);');
  expect(await refusal(migrate(database.url, undefined, newer))).toMatch(/9999_extra was changed after/);
});

test('a database of another application is refused', async () => {
  await using database = await emptyDatabase();
  await database.pool.query('CREATE TABLE accounts (id int)');
  expect(await refusal(migrate(database.url))).toMatch(/schema is not empty/i);
});

test('a log from before there were partitions stays in place, and rows that it cannot hold go to DEFAULT', async () => {
  await using database = await emptyDatabase();
  const { pool } = database;
  await migrate(database.url, undefined, await asOf('0003_keep_key_order'));
  const early = '0198c000-0000-7000-8000-000000000001'; // August 2025
  const late = '019b0500-0000-7000-8000-000000000002'; // December 2025
  const random = 'f47ac10b-58cc-4372-a567-0e02b2c3d479';
  const runs = [early, late, random];
  await pool.query(
    `INSERT INTO run_events SELECT id, seq, 'step_log', 'a', 1, '{"b": 1, "a": 2}', '2025-12-31T23:59:59.999Z'
     FROM unnest($1::uuid[]) id, generate_series(1, 3) seq`,
    [runs],
  );
  await pool.query(
    `INSERT INTO run_payloads (id, run_id, body, created_at)
     SELECT gen_random_uuid(), id, to_json(id), '2025-12-31T23:59:59Z' FROM unnest($1::uuid[]) id`,
    [runs],
  );
  const before = await pool.query(`SELECT *, data::text FROM run_events ORDER BY run_id, seq`);
  const file = await pool.query(`SELECT pg_relation_filenode('run_events') AS node`);
  await migrate(database.url);
  expect((await pool.query(`SELECT *, data::text FROM run_events ORDER BY run_id, seq`)).rows).toEqual(before.rows);
  const places = `SELECT tableoid::regclass::text AS place, run_id AS run FROM %s GROUP BY 1, 2 ORDER BY 2`;
  for (const table of ['run_events', 'run_payloads']) {
    expect((await pool.query(places.replace('%s', table))).rows).toEqual([
      { place: `${table}_before_2026_01`, run: early },
      { place: `${table}_before_2026_01`, run: late },
      { place: `${table}_default`, run: random },
    ]);
    const bound = `SELECT pg_get_expr(relpartbound, oid) AS bound FROM pg_class WHERE relname = $1`;
    expect((await pool.query(bound, [`${table}_before_2026_01`])).rows).toEqual([
      { bound: `FOR VALUES FROM (MINVALUE) TO ('019b76da-a800-0000-0000-000000000000')` },
    ]);
  }
  // Nothing was copied, and the key still refuses a second writer.
  const kept = await pool.query(`SELECT pg_relation_filenode('run_events_before_2026_01') AS node`);
  expect(kept.rows).toEqual(file.rows);
  const again = pool.query(`INSERT INTO run_events VALUES ($1, 3, 'step_log', 'a', 1, '{}', to_timestamp(0))`, [late]);
  await expect(again).rejects.toMatchObject({ code: '23505', constraint: 'run_events_before_2026_01_pkey' });
});

test('charges made in each commit count as posted, and the remainder of each grant is set', async () => {
  await using database = await emptyDatabase();
  const { pool } = database;
  await migrate(database.url, undefined, await asOf('0010_analytics'));
  await pool.query(`
    INSERT INTO credit_accounts (tenant_id, included, payg, consumed, next_expiry_at, created_at)
    VALUES ('acme', 50, 100, 230, '2026-02-01', '2026-01-01'), ('rival', 0, 0, 0, NULL, '2026-01-01');
    INSERT INTO credit_ledger (tenant_id, id, kind, included, payg, consumed, created_at)
    VALUES ('acme', gen_random_uuid(), 'grant', 280, 100, 0, '2026-01-01'),
           ('acme', gen_random_uuid(), 'charge', -200, 0, 200, '2026-01-02'),
           ('acme', gen_random_uuid(), 'refund', 0, 0, -20, '2026-01-02'),
           ('acme', gen_random_uuid(), 'charge', -30, 0, 50, '2026-01-03');
    INSERT INTO credit_grants (tenant_id, id, account, amount, remaining, source, reference, expires_at, created_at)
    VALUES ('acme', gen_random_uuid(), 'included', 80, 80, 'operator', 'first', '2026-02-01', '2026-01-01'),
           ('acme', gen_random_uuid(), 'included', 120, 90, 'operator', 'second', '2026-03-01', '2026-01-01'),
           ('acme', gen_random_uuid(), 'included', 40, 40, 'operator', 'last', NULL, '2026-01-01'),
           ('acme', gen_random_uuid(), 'payg', 100, 100, 'operator', 'payg', NULL, '2026-01-01')`);
  await pool.query(
    `INSERT INTO run_usage (id, tenant_id, project_id, workflow_id, action, quantity, microcredits, attempts, created_at)
     SELECT gen_random_uuid(), 'acme', gen_random_uuid(), gen_random_uuid(), 'workflow_step', 1, 125, '[]', '2026-01-02'
     FROM generate_series(1, 2)`,
  );
  await migrate(database.url);
  const counted = await pool.query(
    'SELECT c.seq - max(u.seq) AS behind FROM credit_progress c, run_usage u GROUP BY c.seq',
  );
  expect(counted.rows).toEqual([{ behind: '0' }]);
  const accounts = await pool.query(
    `SELECT tenant_id, charged::int, posted::int, next_expiry_at FROM credit_accounts ORDER BY 1`,
  );
  expect(accounts.rows).toEqual([
    { tenant_id: 'acme', charged: 250, posted: 250, next_expiry_at: new Date('2026-03-01') },
    { tenant_id: 'rival', charged: 0, posted: 0, next_expiry_at: null },
  ]);
  const grants = await pool.query('SELECT reference, remaining::int FROM credit_grants ORDER BY 1');
  expect(grants.rows.map(({ reference, remaining }) => [reference, remaining])).toEqual([
    ['first', 0],
    ['last', 40],
    ['payg', 100],
    ['second', 10],
  ]);
});

test('connections become bound to the origins and to the project that use them', async () => {
  await using database = await emptyDatabase();
  const { pool } = database;
  await migrate(database.url, undefined, await asOf('0016_leader_terms'));
  // Ids end in what they identify: a0 and a1 are the projects of `two`, b0 is the only one of `one`.
  const id = (end: string) => `00000000-0000-7000-8000-${end.padStart(12, '0')}`;
  const user = id('e0');
  await pool.query(
    "INSERT INTO tenants (slug, name, created_at) SELECT t, t, now() FROM unnest('{one,two}'::text[]) t",
  );
  for (const [project, tenant] of [
    ['a0', 'two'],
    ['a1', 'two'],
    ['b0', 'one'],
  ] as const) {
    const values = [id(project), tenant, project];
    await pool.query('INSERT INTO projects (id, tenant_id, name, created_at) VALUES ($1, $2, $3, now())', values);
  }
  type Sort = { service?: string; provider?: string; config?: object; rotated?: string };
  const connection = async (end: string, tenant: string, more: Sort = {}) => {
    const { service = 'api_key', provider = 'custom', config = {}, rotated = '2026-01-01' } = more;
    await pool.query(
      `INSERT INTO connections (id, tenant_id, name, provider, service, status, credential_keys, config, rotated_at,
         created_by, created_at, updated_at) VALUES ($1::uuid, $2, $1::text, $3, $4, 'active', '{token}', $5, $6, $7, '2026-01-01', '2026-01-01')`,
      [id(end), tenant, provider, service, JSON.stringify(config), rotated, user],
    );
  };
  const server = (end: string, url: string, mode = 'token') =>
    pool.query(
      `INSERT INTO mcp_servers (id, tenant_id, name, service, canonical_url, mode, auth_mode, status, tool_count, created_by, created_at, updated_at)
       VALUES ($1, 'two', $2, $2, $3, 'third_party', $4, 'published', 0, $5, now(), now())`,
      [id(end), end, url, mode, user],
    );
  const instance = (end: string, project: string, of: string, connected: string | null) =>
    pool.query(
      `INSERT INTO mcp_instances (id, tenant_id, project_id, server_id, name, connection_id, config, created_by, created_at, updated_at)
       VALUES ($1, 'two', $2, $3, 'i', $4, '{}', $5, now(), now())`,
      [id(end), id(project), id(of), connected && id(connected), user],
    );
  await connection('1', 'one');
  await connection('2', 'two');
  await connection('3', 'two');
  await connection('4', 'two', { rotated: '2026-01-02' });
  const llm = { service: 'llm', provider: 'openai' };
  await connection('5', 'two', llm);
  await connection('6', 'one', { ...llm, config: { base_url: 'HTTPS://Proxy.Example.com:443/v1' } });
  await connection('7', 'two', { provider: 'suite', rotated: '2026-01-02' });
  await server('c0', 'https://first.example.com/mcp?x=1');
  await server('c1', 'http://second.example.com:8080/mcp');
  await server('c2', 'https://open.example.com/mcp', 'none');
  await instance('d0', 'a0', 'c0', '2');
  await instance('d1', 'a0', 'c2', '2');
  await instance('d2', 'a0', 'c0', '3');
  await instance('d3', 'a1', 'c0', null);
  await pool.query(
    `INSERT INTO mcp_config_profiles (id, tenant_id, instance_id, name, settings, connection_id, created_at, updated_at)
     SELECT gen_random_uuid(), 'two', i.id, c::text, '{}', c, now(), now() FROM mcp_instances i, unnest($2::uuid[]) c WHERE i.id = $1`,
    [id('d3'), [id('3')]],
  );
  await pool.query('UPDATE mcp_instances SET server_id = $1 WHERE id = $2', [id('c1'), id('d3')]);
  await migrate(database.url);
  const { rows } = await pool.query(
    `SELECT right(id::text, 1) AS id, right(project_id::text, 2) AS project, origins, secret_set_by IS NOT NULL AS known
     FROM connections ORDER BY 1`,
  );
  const [first, second] = ['https://first.example.com', 'http://second.example.com:8080'];
  expect(rows.map(row => ({ ...row, origins: row.origins.sort() }))).toEqual([
    { id: '1', project: 'b0', origins: [], known: true },
    { id: '2', project: 'a0', origins: [first], known: true },
    { id: '3', project: null, origins: [second, first], known: true },
    { id: '4', project: null, origins: [], known: false },
    { id: '5', project: null, origins: ['https://api.openai.com'], known: true },
    { id: '6', project: 'b0', origins: ['https://proxy.example.com'], known: true },
    { id: '7', project: null, origins: [], known: true },
  ]);
});
