import { chmod, mkdtemp, rm } from 'node:fs/promises';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import type { RetentionPlan } from '../domains/retention/plan.ts';
import { ManualClock } from '../platform/clock.ts';
import { startEmbedded } from '../platform/postgres/embedded.ts';
import { migrate } from '../platform/postgres/migrate.ts';
import { runBaton, runCommand } from '../testing/commands.ts';
import { createTestDatabase } from '../testing/postgres.ts';
import { DAY, idAt, makeMonths, partitionNames, silent, writeRuns } from '../testing/retention.ts';
import { scratchFolder } from '../testing/scratch-folder.ts';
import { UsageError } from './command-line.ts';
import { declareRetention, trustClock } from './retention.ts';

const retention = (args: string[], env: Record<string, string>) => runBaton(['retention', ...args], env);

test('shows what would be deleted, then deletes it, and then has nothing to do', async () => {
  await using db = await createTestDatabase();
  await makeMonths(db.pool);
  // The command uses the machine's clock, which the test does not control.
  const long = Math.min(Date.UTC(2026, 7, 15), Date.now() - 100 * DAY);
  await writeRuns(db.pool, [{ id: idAt(long), endedAt: long }]);
  const env = { DATABASE_URL: db.url };
  const forEver = await retention(['--dry-run'], env);
  expect(forEver).toMatchObject({ code: 0, err: '' });
  expect(forEver.out).toContain('kept forever');
  const shown = await retention(['--dry-run', '--older-than', '30d'], env);
  expect(shown).toMatchObject({ code: 0, err: '' });
  expect(shown.out).toMatch(/1 run, .*\nNothing was changed\.\n$/);
  const planned = JSON.parse((await retention(['--dry-run', '--json'], { ...env, BATON_RETENTION_DAYS: '30' })).out);
  expect(planned.runs).toBe(1);
  expect((await db.pool.query('SELECT FROM runs')).rowCount).toBe(1);
  const done = await retention(['--older-than=30d', '--json'], env);
  expect(done).toMatchObject({ code: 0, err: '' });
  const dropped = planned.partitions.map(({ name }: { name: string }) => name);
  expect(JSON.parse(done.out)).toMatchObject({ runs: 1, dropped, postponed: [] });
  for (const name of dropped) expect(await partitionNames(db.pool)).not.toContain(name);
  expect((await retention(['--older-than=30d'], env)).out).toContain(
    '0 runs, 0 refused starts, 0 snapshots of test runs, 0 of the audit log, 0 notifications deleted.',
  );
});

test('a clock that has jumped deletes nothing until an operator accepts it', async () => {
  await using db = await createTestDatabase();
  await makeMonths(db.pool);
  const long = Math.min(Date.UTC(2026, 7, 15), Date.now() - 100 * DAY);
  await writeRuns(db.pool, [{ id: idAt(long), endedAt: long }]);
  await db.pool.query(`INSERT INTO retention_progress VALUES (1, $1)`, [new Date(Date.now() - 8 * DAY)]);
  const env = { DATABASE_URL: db.url };
  const shown = await retention(['--older-than', '30d', '--dry-run'], env);
  expect(shown.out).toMatch(/1 run, .*\n.*\nWithout --accept-clock nothing would be deleted: the clock .*\n$/);
  const refused = await retention(['--older-than', '30d'], env);
  expect(refused).toMatchObject({ code: 1, out: '' });
  expect(refused.err).toMatch(/^baton: Nothing was deleted: the clock .* is 8 days ahead .* --accept-clock\.\n$/);
  expect((await db.pool.query('SELECT FROM runs')).rowCount).toBe(1);
  const now = Date.now();
  await expect(trustClock(db.pool, now, false)).rejects.toThrow('--accept-clock');
  await trustClock(db.pool, now, true);
  await trustClock(db.pool, now, false);
});

test('locked data is named, and the exit code asks to try again', async () => {
  await using db = await createTestDatabase();
  await makeMonths(db.pool);
  const reader = await db.pool.connect();
  await reader.query('BEGIN; SELECT FROM run_events LIMIT 1');
  const { code, out } = await retention(['--older-than', '1d'], { DATABASE_URL: db.url });
  await reader.query('COMMIT');
  reader.release();
  const past = (await partitionNames(db.pool)).includes('run_events_2026_08');
  expect(past ? { code, named: out.includes('for later  run_events_2026_08 (locked)') } : { code }).toEqual(
    past ? { code: 75, named: true } : { code: 0 },
  );
});

test('joins an embedded database that runs, starts one that does not, and leaves each as it was', async () => {
  const folder = await mkdtemp(join(scratchFolder(), 'baton-retention-'));
  await chmod(folder, 0o755);
  try {
    const none = await retention(['--dry-run'], { BATON_DATA_DIR: folder });
    expect(none).toMatchObject({ code: 1, out: '' });
    expect(none.err).toMatch(/^baton: There is no database in .*\n$/);
    const embedded = await startEmbedded(folder, 10, silent);
    const old = await retention(['--dry-run'], { BATON_DATA_DIR: folder });
    expect(old.err).toMatch(/belongs to an older version of Baton/);
    await migrate(embedded.url);
    expect(await retention(['--dry-run'], { BATON_DATA_DIR: folder })).toMatchObject({ code: 0, err: '' });
    await migrate(embedded.url); // it still runs
    await embedded.close();
    expect(await retention(['--dry-run'], { BATON_DATA_DIR: folder })).toMatchObject({ code: 0, err: '' });
    const again = await startEmbedded(folder, 10, silent);
    await again.close();
  } finally {
    await rm(folder, { recursive: true, force: true });
  }
});

test('an option replaces BATON_RETENTION_DAYS, and invalid arguments are refused', async () => {
  await using db = await createTestDatabase();
  const clock = new ManualClock(Date.now());
  const services = { url: db.url, policy: { runDays: 7, usageMonths: 0, auditDays: 0 }, clock };
  const cutoffAfter = async (...args: string[]) => {
    const { value } = await runCommand(declareRetention, services, ['--dry-run', ...args]);
    return (value as RetentionPlan).cutoffs.runs;
  };
  expect(await cutoffAfter()).toBe(clock.now() - 7 * DAY);
  expect(await cutoffAfter('--older-than', '90d')).toBe(clock.now() - 90 * DAY);
  for (const args of [['--older-than', '0d'], ['--older-than', '3 months'], ['--dryrun'], ['now']])
    await expect(runCommand(declareRetention, services, args), args.join(' ')).rejects.toBeInstanceOf(UsageError);
});
