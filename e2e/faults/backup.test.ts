import { type ChildProcess, spawn } from 'node:child_process';
import { createHash } from 'node:crypto';
import { once } from 'node:events';
import { mkdtemp, readdir, readFile, rm, writeFile } from 'node:fs/promises';
import { hostname, tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { declareBackup } from '../../server/commands/backup/backup.ts';
import { declareMove } from '../../server/commands/backup/move.ts';
import { declareRestore } from '../../server/commands/backup/restore.ts';
import { readArchive } from '../../server/platform/backup/read-archive.ts';
import { newId } from '../../server/platform/ids.ts';
import { describeSchema, digestRows } from '../../server/testing/backup.ts';
import { runBaton, runCommand } from '../../server/testing/commands.ts';
import { COMPILE_CACHE } from '../../server/testing/compile-cache.ts';
import { startHttpServer } from '../../server/testing/http-server.ts';
import { testConfig } from '../../server/testing/identity.ts';
import { createEmptyDatabase, createTestDatabase, type TestDatabase } from '../../server/testing/postgres.ts';
import { query } from '../../server/testing/postgres-template.ts';
import { scarceDisk } from '../fixtures/scarce-disk.ts';
import { newDataDir } from '../fixtures/server.ts';
import { TcpProxy } from '../fixtures/tcp-proxy.ts';
import { timeoutFor } from './random.ts';
import { Scenario } from './scenario.ts';

const baton = fileURLToPath(new URL('../../server/commands/baton.ts', import.meta.url));
const masterKey = Buffer.alloc(32, 7);
const HOUR_MS = 3_600_000;
let folder: string;
let db: TestDatabase;

beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), 'baton-backup-'));
  db = await createTestDatabase();
});
afterAll(async () => {
  await db?.close();
  await rm(folder, { recursive: true, force: true });
});

const environment = (env: Record<string, string>) => ({
  BATON_MASTER_KEY: masterKey.toString('base64'),
  BATON_DATA_DIR: join(folder, 'none'),
  ...env,
});
const services = (env: Record<string, string>) => ({
  config: testConfig(environment(env)),
  signal: new AbortController().signal,
});

/** Returns a digest of the rows of each table in a backup. */
async function digestsOf(file: string): Promise<string[]> {
  const digests: string[] = [];
  for await (const { name, rows } of (await readArchive(file)).tables()) {
    const hash = createHash('sha256');
    for await (const chunk of rows) hash.update(chunk);
    digests.push(`${name} ${hash.digest('hex')}`);
  }
  return digests;
}

/** Starts a command as its own process, to be killed. */
function startBaton(args: readonly string[], env: Record<string, string>): ChildProcess {
  return spawn(process.execPath, [baton, ...args], {
    env: { NODE_ENV: 'production', PATH: process.env.PATH, ...COMPILE_CACHE, ...environment(env) },
    stdio: 'ignore',
  });
}

async function kill(child: ChildProcess): Promise<void> {
  child.kill('SIGKILL');
  await once(child, 'exit');
}

/** An approval, a wait of an hour, and a request in flight: its server answers nothing until the backup is restored. */
const graphs = {
  approval: [{ id: 'work', type: 'human_task', instructions: 'Ship?' }],
  timer: [{ id: 'work', type: 'wait', seconds: 3600 }],
  running: (url: string) => [{ id: 'work', type: 'http_request', url }],
};
const after = { id: 'after', type: 'lua_script', script: 'return steps.work ~= nil', depends_on: ['work'] };

test(
  'a backup of a running service is restored and moved to another database: every run continues, and both refuse while a service runs',
  async () => {
    let answers = false;
    const slow = await startHttpServer({ '/': (_, response) => void (answers && response.end('{}')) });
    const env = { BATON_ALLOW_PRIVATE_NETWORK: '127.0.0.1/32', BATON_BILLING: 'on' };
    await using scenario = await Scenario.open('backup', { databaseUrl: db.url, env });
    const { client, installation } = scenario;
    const runs = new Map<string, { workflow: string; run: string }>();
    for (const [name, steps] of Object.entries({ ...graphs, running: graphs.running(`${slow.url}/`) })) {
      const workflow = await scenario.publish(name, { steps: [...steps, after] });
      const run = newId();
      runs.set(name, { workflow, run });
      const started = await client.call('POST', `/v1/workflows/${workflow}/command`, {
        command: 'start',
        params: { run_id: run },
      });
      expect(started.status).toBe(200);
    }
    const begun = `SELECT count(DISTINCT run_id)::int AS n FROM run_events WHERE step_id = 'work' AND event_type IN ('step_started', 'task_pending')`;
    await expect.poll(async () => (await query(db.url, begun))[0]?.n).toBe(3);

    const file = join(folder, 'running.baton');
    expect(await runBaton(['backup', file], installation.env)).toMatchObject({ code: 0, err: '' });
    expect(scenario.service.alive).toBe(true);
    await scenario.service.kill();

    // Restores into the embedded database of a new data folder, which the restore creates.
    const elsewhere = await newDataDir();
    const embedded = { ...installation.env, DATABASE_URL: '', BATON_DATA_DIR: elsewhere };
    const restored = await runBaton(['restore', file], embedded);
    expect(restored).toMatchObject({ code: 0, err: '' });
    expect(restored.out).toMatch(/3 workflows, 3 runs \(3 active\), 1 pending task/);
    expect(restored.out).toMatch(/^The audit of balances is clean: 1 workspace, [1-9]/m);

    answers = true;
    const service = await installation.launch(undefined, embedded);
    await service.until('ready');
    client.url = service.url;
    const { workflow, run } = runs.get('approval') ?? { workflow: '', run: '' };
    const path = `/v1/workflows/${workflow}/runs/${run}/tasks/work/complete`;
    expect(await client.call('POST', path, { approved: true })).toMatchObject({ status: 200 });
    service.control({ kind: 'clock', offsetMs: HOUR_MS });
    for (const [name, { workflow, run }] of runs)
      await expect
        .poll(async () => (await client.call('GET', `/v1/workflows/${workflow}/runs/${run}/summary`)).body.status, {
          message: name,
        })
        .toBe('completed');

    await using external = await createEmptyDatabase();
    const refused = {
      code: 1,
      out: '',
      err: expect.stringMatching(/^baton: Another Baton \(process \d+\) uses .*\n$/),
    };
    expect(await runBaton(['move', '--to', external.url], embedded)).toEqual(refused);
    expect(await runBaton(['restore', file], embedded)).toEqual(refused);
    expect(await service.terminate()).toBe(0);

    const here = { config: testConfig(embedded), signal: new AbortController().signal };
    const moved = await runCommand(declareMove, here, ['--to', external.url]);
    expect(moved.text).toMatch(/3 workflows, 3 runs \(0 active\)/);
    expect(moved).toMatchObject({ code: 0, text: expect.stringContaining('The audit of balances is clean') });
    // The source is still there, and all of it has arrived.
    const [left, arrived] = [join(folder, 'left.baton'), join(folder, 'arrived.baton')];
    await runCommand(declareBackup, here, [left]);
    await runCommand(declareBackup, { ...here, config: testConfig({ ...embedded, DATABASE_URL: external.url }) }, [
      arrived,
    ]);
    expect(await digestsOf(arrived)).toEqual(await digestsOf(left));
    await slow.close();
    await rm(elsewhere, { recursive: true });
  },
  timeoutFor(60_000),
);

test(
  'kill -9 in the middle of a backup and of a restore leaves no finished file and an empty database, and the next attempt succeeds',
  async () => {
    await using source = await createTestDatabase();
    await source.pool.query(
      `INSERT INTO run_rejections SELECT gen_random_uuid() WHERE false;
       INSERT INTO rate_counts SELECT md5(n::text), sha256(n::text::bytea), now(), n FROM generate_series(1, 20000) n`,
    );
    const file = join(folder, 'killed.baton');
    await using toSource = await TcpProxy.start(source.url);
    const inBackup = toSource.silenceAfter('baton-backup', 1_000_000);
    const backup = startBaton(['backup', file], { DATABASE_URL: toSource.url });
    await inBackup;
    await kill(backup);
    const left = (await readdir(folder)).filter(name => name.startsWith('killed'));
    expect(left).toEqual([`killed.baton.incomplete-${hostname()}-${backup.pid}`]);
    const made = await runCommand(declareBackup, services({ DATABASE_URL: source.url }), [file]);
    expect(made.code).toBe(0);
    expect((await readdir(folder)).filter(name => name.startsWith('killed'))).toEqual(['killed.baton']);

    await using target = await createEmptyDatabase();
    await using toTarget = await TcpProxy.start(target.url);
    const inRestore = toTarget.silenceAfter('baton-restore', 1_000_000);
    const restore = startBaton(['restore', file], { DATABASE_URL: toTarget.url });
    await inRestore;
    await kill(restore);
    // Closes the connection to PostgreSQL, as the killed process's system would. The proxy still holds it open.
    await toTarget[Symbol.asyncDispose]();
    const sessions = `SELECT count(*)::int AS n FROM pg_stat_activity WHERE datname = current_database() AND application_name = 'baton-restore'`;
    await expect.poll(async () => (await query(target.url, sessions))[0]?.n).toBe(0);
    expect(await describeSchema(target.url)).toEqual(['extension plpgsql']);
    const done = await runCommand(declareRestore, services({ DATABASE_URL: target.url }), [file]);
    expect(done.code).toBe(0);
    expect(await digestRows(target.url)).toEqual(await digestRows(source.url));

    const scratch = await newDataDir();
    const verified = await runBaton(['backup', 'verify', file], environment({ TMPDIR: scratch }));
    expect(verified).toMatchObject({ code: 0, err: '' });
    expect(verified.out).toContain('the seal is that of the master key');
    expect(await readdir(scratch)).toEqual([]);
    await rm(scratch, { recursive: true });
  },
  timeoutFor(30_000),
);

test('a full disk under the file of a backup: one line, and nothing is left there', async () => {
  await using source = await createTestDatabase();
  const place = await mkdtemp(join(folder, 'disk-'));
  const disk = await scarceDisk(place);
  try {
    // Only a file system of a fixed size is full for every process; the other methods limit only PostgreSQL.
    if (!disk.method.startsWith('a file system')) return;
    await disk.fill(place);
    const before = await readdir(place);
    const file = join(place, 'x.baton');
    const full = runCommand(declareBackup, services({ DATABASE_URL: source.url }), [file]);
    await expect(full).rejects.toThrow(
      /^The backup .*x\.baton cannot be written: the disk is full\. Nothing was left behind\.$/,
    );
    expect(await readdir(place)).toEqual(before);
    await disk.free(place);
    await runCommand(declareBackup, services({ DATABASE_URL: source.url }), [file]);
    expect((await readArchive(file)).manifest.rows.tenants).toBe(0);
    // An incomplete copy of it, as a full disk makes one.
    const copy = join(place, 'copy.baton');
    await writeFile(copy, (await readFile(file)).subarray(0, -1));
    await expect(readArchive(copy)).rejects.toThrow(/is incomplete/);
  } finally {
    await disk.remove();
  }
});
