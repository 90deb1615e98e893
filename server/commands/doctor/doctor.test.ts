import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { type AddressInfo, connect, createServer, type Server } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import pg from 'pg';
import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest';
import { type Config, ConfigError } from '../../operation/config.ts';
import { LEADER_LOCK, processLock } from '../../orchestrator/cluster/index.ts';
import { newId } from '../../platform/ids.ts';
import { withDatabase } from '../../platform/postgres/cluster.ts';
import { fingerprint } from '../../platform/secrets/installation-key.ts';
import { runBaton, runCommand } from '../../testing/commands.ts';
import { testConfig } from '../../testing/identity.ts';
import { createTestDatabase, type TestDatabase } from '../../testing/postgres.ts';
import { checkQueries } from './database-checks.ts';
import { declareDoctor } from './doctor.ts';
import type { Report } from './finding.ts';
import { checkDisk } from './machine-checks.ts';

const HOUR = 3_600_000;
const KEY = Buffer.alloc(32, 7);
let db: TestDatabase;
let config: Config;
/** Holds the leader's lock, as a process that leads. */
let leader: pg.Client;

const withEnv = (env: Record<string, string> = {}) =>
  testConfig({ DATABASE_URL: db.url, BATON_MASTER_KEY: KEY.toString('base64'), ...env });

beforeAll(async () => {
  db = await createTestDatabase();
  config = withEnv();
  await db.pool.query('INSERT INTO installation VALUES (1, $1, $2)', [fingerprint(KEY), new Date()]);
  leader = new pg.Client({ connectionString: db.url, application_name: 'baton-orchestrator' });
  await leader.connect();
  await leader.query('SELECT pg_advisory_lock($1)', [LEADER_LOCK]);
});
afterAll(async () => {
  await leader.end();
  await db.close();
});
beforeEach(() =>
  db.pool.query('DELETE FROM child_runs; DELETE FROM runs; DELETE FROM run_load_deaths; DELETE FROM cluster_nodes'),
);

async function look(args: string[] = [], { read = () => config, now = Date.now } = {}) {
  const outcome = await runCommand(declareDoctor, { read, clock: { now } }, args);
  return { ...outcome, report: outcome.value as Report };
}
const found = ({ checks }: Report, name: string) => checks.filter(({ check }) => check === name);
const states = ({ checks }: Report) => Object.fromEntries(checks.map(({ check, state }) => [check, state]));

test('looks at everything, in one report for people and for programs', async () => {
  const { report, text } = await look();
  // The database of the tests neither syncs nor writes whole pages; all else is well.
  expect(states(report)).toEqual({
    configuration: 'ok',
    database: 'ok',
    sessions: 'ok',
    settings: 'problem',
    connections: 'ok',
    clock: 'ok',
    disk: 'skipped',
    replication: 'ok',
    'sessions at work': 'ok',
    'slow statements': 'skipped',
    sizes: 'ok',
    migrations: 'ok',
    'master key': 'ok',
    leader: 'ok',
    runs: 'ok',
  });
  expect(found(report, 'settings')).toMatchObject([
    { text: expect.stringMatching(/^fsync and full_page_writes off: /), facts: { synchronous_commit: 'on' } },
  ]);
  const managed = (await look([], { read: () => withEnv({ BATON_REPLICATION: 'managed' }) })).report;
  expect([found(managed, 'settings')[0]?.state, managed.ok]).toEqual(['warning', true]);
  expect(text).toMatch(/^ok {7}database +PostgreSQL \d+\.\d+, database \w+$/m);
  expect(text).toMatch(/\n\n1 problem, 0 warnings \(docs\/doctor\.md\)\.$/);
  expect(JSON.parse((await look(['--json'])).text)).toMatchObject({ ok: false, problems: 1, warnings: 0 });
});

test('a real process prints one document, with settings and secrets from files, and ends with 1', async () => {
  const folder = await mkdtemp(join(tmpdir(), 'baton-doctor-'));
  await writeFile(join(folder, 'url'), `${db.url}\n`);
  await writeFile(join(folder, 'baton.env'), `DATABASE_URL_FILE=${join(folder, 'url')}\n`);
  const { code, out, err } = await runBaton(['doctor', '--json'], { BATON_CONFIG: join(folder, 'baton.env') });
  await rm(folder, { recursive: true });
  expect({ code, err }).toEqual({ code: 1, err: '' });
  expect(found(JSON.parse(out) as Report, 'leader')).toMatchObject([{ state: 'ok' }]);
});

test('changes nothing, even where it could', async () => {
  const { rows: tables } = await db.pool.query<{ name: string }>(
    "SELECT quote_ident(tablename) AS name FROM pg_tables WHERE schemaname = 'public' ORDER BY 1",
  );
  // Numbers of transactions are those of the whole server, and other tests write there.
  const readTables = tables
    .map(({ name }) => `SELECT '${name}' AS name, count(*) AS rows, max(xmin::text::bigint) AS written_by FROM ${name}`)
    .join(' UNION ALL ');
  const readAll = async () => (await db.pool.query(readTables)).rows;
  const before = await readAll();
  expect(before.length).toBeGreaterThan(50);
  await look();
  expect(await readAll()).toEqual(before);
});

describe('runs', () => {
  const START = Date.now() - 100 * HOUR;
  type Row = { phase: string; tasks?: number; timer?: Date | string | null; at?: number };
  async function insertRun({ phase, tasks = 0, timer = null, at = START }: Row) {
    const id = newId();
    await db.pool.query(
      `INSERT INTO runs (id, tenant_id, project_id, workflow_id, version, status, orchestration_phase, session_id,
         trigger_type, started_by, started_at, steps_total, steps_done, pending_tasks, last_seq, next_timer_at)
       VALUES ($1, 'acme', $1, $1, 1, 'running', $2, '', '', '', $3, 1, 0, $4, 1, $5)`,
      [id, phase, new Date(at), tasks, timer],
    );
    await db.pool.query(
      `INSERT INTO run_events (run_id, seq, event_type, data, created_at) VALUES ($1, 1, 'run_started', '{}', $2)`,
      [id, new Date(at)],
    );
    return id;
  }
  const stuck = async () => found((await look()).report, 'stuck runs').map(({ text }) => text);

  test('that keep the promise are not stuck', async () => {
    await insertRun({ phase: 'blocked', tasks: 1 });
    await insertRun({ phase: 'blocked', timer: new Date(Date.now() + HOUR) });
    await insertRun({ phase: 'blocked', timer: 'infinity' });
    await insertRun({ phase: 'paused' });
    await insertRun({ phase: 'executing', at: Date.now() - HOUR });
    const [caller, called] = [await insertRun({ phase: 'executing' }), await insertRun({ phase: 'paused' })];
    await db.pool.query(
      `INSERT INTO child_runs (run_id, parent_run_id, parent_workflow_id, parent_step_id, detached) VALUES ($1, $2, $2, 'a', false)`,
      [called, caller],
    );
    const { report } = await look();
    expect(found(report, 'stuck runs')).toEqual([]);
    expect(found(report, 'runs')).toMatchObject([
      { state: 'ok', text: '2 at work, 3 waiting, 2 paused; none is stuck.', facts: { executing: 2 } },
    ]);
  });

  test.each<[string, Row, RegExp]>([
    ['waits for nothing', { phase: 'blocked' }, /^One run waits, and no task is open and no timer is set: /],
    [
      'is overdue',
      { phase: 'blocked', timer: new Date(Date.now() - HOUR) },
      /^One run is overdue by a minute or more: /,
    ],
    ['is quiet', { phase: 'executing' }, /^One run has had no event for 25 hours: /],
  ])('that %s is stuck', async (_, row, text) => {
    const id = await insertRun(row);
    const [line, ...others] = await stuck();
    expect(line).toMatch(text);
    expect(line).toContain(`${id} (acme)`);
    expect(others).toEqual([]);
  });

  test('that processes died of are no longer loaded', async () => {
    const [twice, thrice] = [await insertRun({ phase: 'paused' }), await insertRun({ phase: 'paused' })];
    await db.pool.query('INSERT INTO run_load_deaths VALUES ($1, 2), ($2, 3)', [twice, thrice]);
    expect(await stuck()).toEqual([
      `One run is no longer loaded, because processes ended while they loaded it: ${thrice} (acme)`,
    ]);
  });

  test('that are many are counted, and five of them named', async () => {
    for (let n = 0; n < 7; n++) await insertRun({ phase: 'blocked' });
    expect(await stuck()).toEqual([
      expect.stringMatching(/^7 runs wait, and no task is open and no timer is set: ([^,]+, ){5}…$/),
    ]);
  });

  test('are not blamed while no process leads, which is the problem itself', async () => {
    await insertRun({ phase: 'blocked', timer: new Date(Date.now() - HOUR) });
    await leader.query('SELECT pg_advisory_unlock($1)', [LEADER_LOCK]);
    try {
      const { report } = await look();
      expect(found(report, 'leader')).toMatchObject([
        { state: 'problem', text: expect.stringContaining('none leads') },
      ]);
      expect(found(report, 'runs')).toMatchObject([
        { text: '0 at work, 1 waiting, 0 paused; no process advances them.' },
      ]);
    } finally {
      await leader.query('SELECT pg_advisory_lock($1)', [LEADER_LOCK]);
    }
  });
});

test('the nodes of a cluster are named, and one that is there without an answer', async () => {
  const cluster = withEnv({ BATON_CLUSTER: 'on' });
  const none = await look([], { read: () => cluster });
  expect(found(none.report, 'nodes')).toMatchObject([{ state: 'problem' }]);
  const id = newId();
  await db.pool.query(
    `INSERT INTO cluster_nodes VALUES ($1, 'http://10.0.0.5:3000', 1, '0.1.0', true, $2), ($3, 'http://gone:1', 1, '0.1.0', true, $2)`,
    [id, new Date(), newId()],
  );
  await leader.query('SELECT pg_advisory_lock_shared($1::bigint)', [String(processLock(id))]);
  const one = await look([], { read: () => cluster });
  expect(found(one.report, 'nodes')).toMatchObject([
    { text: expect.stringContaining('http://10.0.0.5:3000 (0.1.0, leads') },
  ]);
  expect(one.text).not.toContain('gone');
  await leader.query('SELECT pg_advisory_unlock_shared($1::bigint)', [String(processLock(id))]);
});

test.each([
  [500, 'ok'],
  [-2_000, 'warning'],
  [7_000, 'problem'],
])('a clock that is %d ms ahead is %s', async (ahead, state) => {
  const { report } = await look([], { now: () => Date.now() + ahead });
  expect(found(report, 'clock')).toMatchObject([{ state }]);
});

test.each([
  [100, 'ok'],
  [3, 'warning'],
  [0.2, 'problem'],
])('%d GiB of free disk are %s', async (gib, state) => {
  const space = async () => ({ free: gib * 1024 ** 3, total: 1024 ** 4 });
  expect(await checkDisk({ url: undefined, dataDir: '.data' }, space)).toMatchObject({ state });
});

describe('queries', () => {
  /** `work` on a session of its own, beside a transaction that waits for its client. */
  async function beside<T>(work: (client: pg.Client) => Promise<T>): Promise<T> {
    const [one, other] = [0, 1].map(
      () => new pg.Client({ connectionString: db.url, application_name: 'psql\u001b[31m' }),
    );
    if (one === undefined || other === undefined) throw new Error('there are two');
    await Promise.all([one.connect(), other.connect()]);
    try {
      await other.query(`BEGIN; SELECT 'sw0rdfish'`);
      return await work(one);
    } finally {
      await Promise.all([one.end(), other.end()]);
    }
  }

  test('that take long are named by their first word, and transactions that wait by their session', async () => {
    const [long, statements] = await beside(one => checkQueries(one, { longS: 0, meanMs: 500 }));
    expect(long).toMatchObject({
      state: 'warning',
      text: expect.stringMatching(/a transaction that waits for its client for \d+ s \(pid \d+, psql/),
      facts: { long_running: expect.arrayContaining([expect.objectContaining({ command: 'BEGIN' })]) },
    });
    expect(JSON.stringify(long)).not.toContain('sw0rdfish');
    expect(statements).toMatchObject({ state: 'skipped' });
  });

  test('that PostgreSQL counts are named where they are slow, without the values that it left in them', async () => {
    await db.pool.query(
      `CREATE TABLE pg_stat_statements AS SELECT oid AS dbid, v.* FROM pg_database, (VALUES
         ('SELECT * FROM runs WHERE a = ''sw0rdfish'' AND b = $1', 9::bigint, 1200.4::float8),
         ('ALTER ROLE x PASSWORD ''sw0rdfish''', 9, 9000), ('SELECT 1', 9, 0.1), ('SELECT 2', 1, 9000)
       ) AS v(query, calls, mean_exec_time) WHERE datname = current_database()`,
    );
    try {
      const [, statements] = await beside(one => checkQueries(one));
      expect(statements).toMatchObject({
        state: 'warning',
        facts: { slow: [{ statement: "SELECT * FROM runs WHERE a = '…' AND b = $1", calls: 9, meanMs: 1200 }] },
      });
    } finally {
      await db.pool.query('DROP TABLE pg_stat_statements');
    }
  });
});

test('another master key than that of the database is a problem', async () => {
  const read = () => withEnv({ BATON_MASTER_KEY: Buffer.alloc(32, 8).toString('base64') });
  const { report, text } = await look([], { read });
  expect(found(report, 'master key')).toMatchObject([
    { state: 'problem', text: 'BATON_MASTER_KEY is not the key of this database.' },
  ]);
  expect(text).not.toContain(Buffer.alloc(32, 8).toString('base64'));
});

test('migrations that are due, and those of a newer version, end the look at the runs', async () => {
  const { rows } = await db.pool.query('SELECT * FROM _prisma_migrations ORDER BY started_at DESC LIMIT 1');
  const [{ migration_name: name }] = rows as [{ migration_name: string }];
  const rename = (to: string) =>
    db.pool.query('UPDATE _prisma_migrations SET migration_name = $2 WHERE id = $1', [rows[0].id, to]);
  try {
    await rename('9999_of_a_newer_version');
    const newer = (await look()).report;
    expect(found(newer, 'migrations')).toMatchObject([
      { state: 'problem', text: expect.stringContaining('made by a newer version') },
    ]);
    expect(found(newer, 'runs')).toMatchObject([{ state: 'skipped' }]);
    await db.pool.query('UPDATE _prisma_migrations SET rolled_back_at = now() WHERE id = $1', [rows[0].id]);
    expect(found((await look()).report, 'migrations')).toMatchObject([
      { state: 'warning', text: `One is due: ${name}.` },
    ]);
  } finally {
    await rename(name);
    await db.pool.query('UPDATE _prisma_migrations SET rolled_back_at = NULL WHERE id = $1', [rows[0].id]);
  }
});

describe('a database that cannot be used', () => {
  const lineFor = async (url: string) => {
    const { report, code, text } = await look([], { read: () => withEnv({ DATABASE_URL: url }) });
    expect(code).toBe(1);
    const lines = found(report, 'database');
    expect(lines).toMatchObject([{ state: 'problem' }]);
    return { line: lines[0]?.text ?? '', text };
  };
  const withUser = (url: string, user: string, password: string) =>
    Object.assign(new URL(url), { username: user, password }).href;
  let silent: Server;
  beforeAll(async () => {
    silent = createServer(() => undefined).listen(0, '127.0.0.1');
    await new Promise(resolve => silent.once('listening', resolve));
  });
  afterAll(() => void silent.close());

  test('is one line for each reason, without the password', async () => {
    const password = 'sw0rd%2Ffish%0A%1B%5B31m';
    const at = (host: string) => `postgres://baton:${password}@${host}/db`;
    const { port } = silent.address() as AddressInfo;
    const wrongUser = withUser(db.url, 'nobody-here', 'sw0rdfish');
    const absent = withDatabase(db.url, 'no_such_database');
    const cases: [string, RegExp][] = [
      [at('127.0.0.1:1'), /^Nothing listens where DATABASE_URL leads \(ECONNREFUSED\)\.$/],
      [at('no.such.host.invalid'), /^The (host in DATABASE_URL has no address|name service does not answer)/],
      [at(`127.0.0.1:1,127.0.0.1:${port}`), /^None of the servers in DATABASE_URL answers: /],
      [wrongUser, /^The database refuses the user or the password \(28P01\)\.$/],
      [absent, /^The server has no database of this name \(3D000\)\.$/],
      [withDatabase(db.url, 'template1'), /: it is empty\.$/],
    ];
    for (const [url, expected] of cases) {
      const { line, text } = await lineFor(url);
      expect(line).toMatch(expected);
      expect(text).not.toContain('sw0rd');
      expect(text.replaceAll('\n', '')).not.toMatch(/\p{Cc}/u);
    }
  });

  test('that stops answering midway ends the look with one line', async () => {
    const original = new URL(db.url);
    const target = original.searchParams.get('host');
    let looks = 0;
    const relay = createServer(socket => {
      const server = connect(
        target === null
          ? { host: original.hostname, port: Number(original.port) }
          : { path: `${target}/.s.PGSQL.${original.port}` },
      );
      const end = () => void [socket, server].map(each => each.destroy());
      for (const each of [socket, server]) each.on('error', end).on('close', end);
      server.pipe(socket);
      socket.on('data', (data: Buffer) => {
        if (data.includes('BEGIN TRANSACTION READ ONLY') && ++looks === 3) return end();
        server.write(data);
      });
    });
    await new Promise<void>(resolve => void relay.listen(0, '127.0.0.1', resolve));
    try {
      const { port } = relay.address() as AddressInfo;
      const url = `postgres://${original.username}:${original.password}@127.0.0.1:${port}${original.pathname}`;
      const { report } = await look([], { read: () => withEnv({ DATABASE_URL: url }) });
      expect(report.checks.map(({ check, state }) => `${check} ${state}`)).toEqual([
        'configuration ok',
        'database ok',
        'sessions ok',
        'settings problem',
        'database problem',
      ]);
      expect(report.checks.at(-1)?.text).toMatch(/^It stopped answering: /);
    } finally {
      relay.close();
    }
  });

  test('by its user is the same', async () => {
    const role = `reader_${newId().replaceAll('-', '')}`;
    await db.pool.query(`CREATE ROLE ${role} LOGIN PASSWORD 'p'`);
    try {
      const { line, text } = await lineFor(withUser(db.url, role, 'p'));
      expect(line).toMatch(/: this user may not write to the tables of Baton\.$/);
      expect(text).not.toContain('leader');
    } finally {
      await db.pool.query(`DROP ROLE ${role}`);
    }
  });

  test('with the tables of another product is none of Baton', async () => {
    await using other = await createTestDatabase();
    await other.pool.query('DROP TABLE tenants CASCADE');
    expect((await lineFor(other.url)).line).toMatch(/: it holds other data, and none of Baton\.$/);
  });
});

test('a configuration that cannot be read is a line for each variable', async () => {
  const read = () => {
    throw new ConfigError('PORT: must be a whole number from 0 to 65535\nBATON_PAT: is malformed');
  };
  const { code, report } = await look([], { read });
  expect(code).toBe(1);
  expect(report.checks.map(({ text }) => text)).toEqual([
    'PORT: must be a whole number from 0 to 65535',
    'BATON_PAT: is malformed',
  ]);
});

test('names with control characters and secrets reach no output', async () => {
  const read = () => withEnv({ BATON_METRICS_TOKEN: 'sw0rdfish-sw0rdfish' });
  const name = 'sw0rdfish-sw0rdfish\u001b[31m\nPROBLEM  \u202egnihton';
  await db.pool.query(
    `CREATE TABLE ${pg.escapeIdentifier(name)} AS SELECT repeat('x', 100) FROM generate_series(1, 40000)`,
  );
  const client = new pg.Client({ connectionString: db.url, application_name: 'psql' });
  await client.connect();
  try {
    for (const args of [[], ['--json']]) {
      const { text } = await look(args, { read });
      expect(text).toContain('[redacted]');
      expect(text).not.toMatch(/sw0rdfish|^PROBLEM +.?gnihton/m);
      expect(text.replaceAll('\n', '')).not.toMatch(/\p{Cc}|\p{Cf}/u);
    }
  } finally {
    await client.end();
    await db.pool.query(`DROP TABLE ${pg.escapeIdentifier(name)}`);
  }
});

describe('--reach', () => {
  const server = createServer(socket =>
    socket.on('error', () => undefined).end('HTTP/1.1 401 No\r\nContent-Length: 0\r\n\r\n'),
  );
  beforeAll(() => new Promise<void>(resolve => void server.listen(0, '127.0.0.1', resolve)));
  afterAll(() => void server.close());

  test('calls models and MCP servers through the egress guard, and names origins only', async () => {
    const { port } = server.address() as AddressInfo;
    const at = new Date();
    const mcp = (url: string) =>
      db.pool.query(
        `INSERT INTO mcp_servers (id, tenant_id, name, service, canonical_url, mode, auth_mode, status, tool_count, created_by, created_at, updated_at)
         VALUES ($1::uuid, 'acme', 'x', $1::text, $2, 'remote', 'none', 'draft', 0, $1::uuid, $3, $3)`,
        [newId(), url, at],
      );
    await db.pool.query(
      `INSERT INTO tenants (slug, name, created_at) VALUES ('acme', 'Acme', $1) ON CONFLICT DO NOTHING`,
      [at],
    );
    await mcp(`http://127.0.0.1:${port}/sw0rdfish`);
    await mcp(`http://127.0.0.1:${port}/sw0rdfish`);
    await mcp('http://127.0.0.1:1/sw0rdfish');
    await mcp('http://10.1.2.3/sw0rdfish');
    await db.pool.query(
      `INSERT INTO connections (id, tenant_id, name, provider, service, status, credential_keys, config, origins, rotated_at, created_by, created_at, updated_at)
       VALUES ($1, 'acme', 'x', 'openai_compatible', '', 'active', '{}', $2, '{}', $3, $1, $3, $3)`,
      [newId(), { base_url: `http://127.0.0.1:${port}/v1/sw0rdfish` }, at],
    );
    const { report, text } = await look(['--reach'], {
      read: () => withEnv({ BATON_ALLOW_PRIVATE_NETWORK: '127.0.0.1' }),
    });
    const lines = found(report, 'reach').map(({ state, text: line }) => `${state} ${line.replace(/\d+ ms/, 'n ms')}`);
    expect(lines.sort()).toEqual([
      `ok The MCP server at http://127.0.0.1:${port} answers (401, n ms).`,
      `ok The model at http://127.0.0.1:${port} answers (401, n ms).`,
      'problem The MCP server at http://127.0.0.1:1 does not answer (ECONNREFUSED).',
      expect.stringMatching(/^warning The MCP server at http:\/\/10\.1\.2\.3 may not be called: /),
    ]);
    expect(text).not.toContain('sw0rdfish');
    expect(found((await look()).report, 'reach')).toEqual([]);
  });
});
