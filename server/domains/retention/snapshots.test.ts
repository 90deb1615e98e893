import { expect, test } from 'vitest';
import { newId } from '../../platform/ids.ts';
import { createTestServices, createTestTenant } from '../../testing/identity.ts';
import { createTestDatabase } from '../../testing/postgres.ts';
import { DAY, idAt, makeMonths, NOW, silent, writeRuns } from '../../testing/retention.ts';
import { publishGraph } from '../../testing/runs.ts';
import { insertTestVersion } from '../workflows/versions/queries.ts';
import { cutoffsAt } from './policy.ts';
import { sweep } from './sweep.ts';

test('snapshots of test runs are purged with their runs, except the newest of a workflow', async () => {
  await using db = await createTestDatabase();
  await makeMonths(db.pool);
  const services = createTestServices(db);
  const { contributor } = await createTestTenant(services, { slug: 'acme' });
  const id = await publishGraph(services, contributor, { steps: [] });
  const ref = { tenantId: contributor.tenantId, id };
  const tryGraph = (checksum: string, at: number) =>
    insertTestVersion(db.pool, ref, { graph: {}, runSetup: {}, checksum, by: newId(), at: new Date(at) });
  const versions = async () => {
    const { rows } = await db.pool.query('SELECT version FROM workflow_versions WHERE workflow_id = $1 ORDER BY 1', [
      id,
    ]);
    return rows.map(row => row.version);
  };
  const purge = async () => {
    const cutoffs = cutoffsAt({ runDays: 30, usageMonths: 0, auditDays: 0 }, NOW);
    const result = await sweep({ url: db.url, logger: silent, cutoffs, now: NOW, pause: async () => undefined });
    return result.snapshots;
  };
  const old = NOW - 40 * DAY;
  for (const checksum of ['unused', 'used again', 'running', 'newest']) await tryGraph(checksum, old);
  expect(await tryGraph('used again', NOW)).toBe(-2);
  const running = idAt(NOW - 45 * DAY);
  await writeRuns(db.pool, [{ id: running, endedAt: null }]);
  await db.pool.query('UPDATE runs SET workflow_id = $2, version = -3 WHERE id = $1', [running, id]);

  expect(await purge()).toBe(1);
  expect(await versions()).toEqual([-4, -3, -2, 1]);
  await db.pool.query('UPDATE workflow_versions SET published_at = to_timestamp($1::float8 / 1000)', [old]);
  expect(await purge()).toBe(1);
  expect(await versions()).toEqual([-4, -3, 1]);
  expect(await tryGraph('unused', NOW)).toBe(-5);
});
