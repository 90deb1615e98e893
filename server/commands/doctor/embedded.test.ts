import { chmod, mkdtemp, readdir, rm, stat } from 'node:fs/promises';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { readConfig } from '../../operation/config.ts';
import { createLogger } from '../../platform/logger.ts';
import { openDatabase } from '../../platform/postgres/database.ts';
import { createContainer } from '../../process/container.ts';
import { runBaton } from '../../testing/commands.ts';
import { scratchFolder } from '../../testing/scratch-folder.ts';
import type { Report } from './finding.ts';

let folder: string;
let status: () => string;
let stop: () => Promise<void>;

/** The service on an embedded database, without its console. */
beforeAll(async () => {
  folder = await mkdtemp(join(scratchFolder(), 'baton-doctor-'));
  await chmod(folder, 0o755);
  const config = readConfig({ NODE_ENV: 'test', BATON_DATA_DIR: folder, BATON_SEED: 'none' });
  const logger = createLogger('silent');
  const database = await openDatabase(config, logger);
  const container = await createContainer({ config, logger, database });
  await container.ready;
  status = () => container.services.orchestrator.status();
  stop = async () => {
    await container.close();
    await database.close();
  };
});
afterAll(() => rm(folder, { recursive: true, force: true }));

const doctor = async () => {
  const { code, out, err } = await runBaton(['doctor', '--json'], { BATON_DATA_DIR: folder });
  expect(err).toBe('');
  return { code, report: JSON.parse(out) as Report };
};

test('all is well while the service runs; once it has stopped, the doctor says so and starts nothing', async () => {
  await expect.poll(status).toBe('leading');
  const running = await doctor();
  expect(running.code).toBe(running.report.ok ? 0 : 1);
  // The disk of the machine is none of the service's.
  const others = running.report.checks.filter(({ check }) => check !== 'disk');
  expect(others.filter(({ state }) => state === 'problem' || state === 'warning')).toEqual([]);
  expect(others.map(({ check }) => check)).toEqual(
    expect.arrayContaining(['leader', 'runs', 'master key', 'settings']),
  );

  await stop();
  const written = async () => {
    const names = await readdir(folder, { recursive: true });
    return Promise.all(names.sort().map(async name => `${name} ${(await stat(join(folder, name))).mtimeMs}`));
  };
  const before = await written();
  const stopped = await doctor();
  expect(stopped.code).toBe(1);
  expect(stopped.report.checks.find(({ check }) => check === 'database')).toMatchObject({
    state: 'problem',
    text: `The embedded PostgreSQL in ${folder} does not run, and this command starts nothing: the database was not looked at.`,
  });
  expect(await written()).toEqual(before);
});
