import { expect, test } from 'vitest';
import { newId } from '../../platform/ids.ts';
import { createTestServices, createTestTenant } from '../../testing/identity.ts';
import { createTestDatabase } from '../../testing/postgres.ts';
import { DAY, NOW, silent } from '../../testing/retention.ts';
import { planRetention } from './plan.ts';
import { cutoffsAt } from './policy.ts';
import { sweep } from './sweep.ts';

test('deliveries of notifications are purged when they are older than runs are kept', async () => {
  await using db = await createTestDatabase();
  const { tenantId, projectId, owner } = await createTestTenant(createTestServices(db), { slug: 'acme' });
  const cutoff = NOW - 30 * DAY;
  const insert = (at: number, count: number) =>
    db.pool.query(
      `INSERT INTO notification_deliveries (tenant_id, user_id, run_id, step_id, channel, kind, project_id, workflow_id, state,
         next_attempt_at, created_at)
       SELECT $1, $2, gen_random_uuid(), '', 'email', 'run_failed', $3, $4, 'delivered', $5, $5 FROM generate_series(1, $6)`,
      [tenantId, owner.userId, projectId, newId(), new Date(at), count],
    );
  await insert(cutoff - 1, 5_001);
  await insert(cutoff, 2);
  const cutoffs = (runDays: number) => cutoffsAt({ runDays, usageMonths: 0, auditDays: 0 }, NOW);
  const runSweep = (runDays: number) =>
    sweep({ url: db.url, logger: silent, cutoffs: cutoffs(runDays), now: NOW, pause: async () => undefined });
  expect(await runSweep(0)).toMatchObject({ notifications: 0 });
  expect((await planRetention(db.url, cutoffs(30), NOW)).notifications).toBe(5_001);
  expect(await runSweep(30)).toMatchObject({ notifications: 5_001 });
  expect((await db.pool.query('SELECT FROM notification_deliveries')).rowCount).toBe(2);
});
