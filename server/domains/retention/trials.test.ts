import { expect, test } from 'vitest';
import { newId } from '../../platform/ids.ts';
import { createTestTenant } from '../../testing/identity.ts';
import { operationsByName } from '../../testing/operations.ts';
import { createTestDatabase } from '../../testing/postgres.ts';
import { DAY, idAt, makeMonths, NOW, silent, writeRuns } from '../../testing/retention.ts';
import { call, contextFor, createServicesWithSteps } from '../../testing/workflows.ts';
import { autopilotOperations } from '../autopilot/operations.ts';
import { insertWorkflow } from '../workflows/store.ts';
import { insertTestVersion } from '../workflows/versions/queries.ts';
import { cutoffsAt } from './policy.ts';
import { sweep } from './sweep.ts';

const { autopilot_propose: propose, autopilot_discard_proposal: discard } = operationsByName(autopilotOperations);

test('the workflow of a trial is purged when its runs are deleted and its proposal is closed', async () => {
  await using db = await createTestDatabase();
  await makeMonths(db.pool);
  const { services, close } = createServicesWithSteps(db);
  const { contributor, tenantId, projectId } = await createTestTenant(services, { slug: 'acme' });
  const ctx = contextFor(services, contributor);
  const hidden = async (status: 'open' | 'closed', at: number) => {
    const { id: proposal } = await call(propose, ctx, { title: 'Tried' });
    const made = { name: 'Tried', description: '', graph: {}, runSetup: {}, graphChecksum: '', kind: 'trial' as const };
    const scope = { tenantId, projectId };
    const row = { id: newId(), scope, ...made, createdBy: contributor.userId, at: new Date(at) };
    const { id } = await insertWorkflow(services.prisma, row);
    const snapshot = { graph: {}, runSetup: {}, checksum: 'x', by: contributor.userId, at: new Date(at) };
    await insertTestVersion(db.pool, { tenantId, id }, snapshot);
    await db.pool.query('UPDATE autopilot_proposals SET trial_workflow_id = $2 WHERE id = $1', [proposal, id]);
    if (status === 'closed') await call(discard, ctx, { id: proposal });
    return id;
  };
  const old = NOW - 40 * DAY;
  const unused = await hidden('closed', old);
  const open = await hidden('open', old);
  const recent = await hidden('closed', NOW - DAY);
  const used = await hidden('closed', old);
  // Runs are purged by the month in which they started.
  const run = idAt(NOW - 80 * DAY);
  await writeRuns(db.pool, [{ id: run, endedAt: null }]);
  await db.pool.query('UPDATE runs SET workflow_id = $2, version = -1 WHERE id = $1', [run, used]);
  const sweepAndCount = async () => {
    const cutoffs = cutoffsAt({ runDays: 30, usageMonths: 0, auditDays: 0 }, NOW);
    await sweep({ url: db.url, logger: silent, cutoffs, now: NOW, pause: async () => undefined });
    const { rows } = await db.pool.query(`SELECT id FROM workflows WHERE kind = 'trial' ORDER BY id`);
    return rows.map(({ id }) => id);
  };
  expect(await sweepAndCount()).toEqual([open, recent, used].sort());
  expect(await sweepAndCount()).not.toContain(unused);
  await db.pool.query('UPDATE runs SET ended_at = to_timestamp($2::float8 / 1000) WHERE id = $1', [run, old]);
  expect(await sweepAndCount()).toEqual([open, recent].sort());
  await close();
});

test('a closed proposal is purged when it was not changed for as long as runs are kept; an open one stays', async () => {
  await using db = await createTestDatabase();
  await makeMonths(db.pool);
  const { services, close } = createServicesWithSteps(db);
  const { contributor } = await createTestTenant(services, { slug: 'acme' });
  const ctx = contextFor(services, contributor);
  const proposal = async (status: string, changedAt: number) => {
    const { id } = await call(propose, ctx, { title: status });
    await db.pool.query(
      'UPDATE autopilot_proposals SET status = $2, updated_at = to_timestamp($3::float8 / 1000) WHERE id = $1',
      [id, status, changedAt],
    );
    return id;
  };
  const cutoff = NOW - 30 * DAY;
  const open = ['building', 'ready', 'needs_input'];
  const kept: string[] = [];
  for (const status of open) kept.push(await proposal(status, cutoff - 1));
  for (const status of ['applied', 'undone', 'discarded', 'superseded']) {
    await proposal(status, cutoff - 1);
    kept.push(await proposal(status, cutoff));
  }
  const sweepAndCount = async (runDays: number) => {
    const cutoffs = cutoffsAt({ runDays, usageMonths: 0, auditDays: 0 }, NOW);
    await sweep({ url: db.url, logger: silent, cutoffs, now: NOW, pause: async () => undefined });
    return (await db.pool.query('SELECT id FROM autopilot_proposals ORDER BY id')).rows.map(({ id }) => id);
  };
  expect(await sweepAndCount(0)).toHaveLength(11);
  expect(await sweepAndCount(30)).toEqual(kept.sort());
  await close();
});
