import { expect, test } from 'vitest';
import { newId } from '../../platform/ids.ts';
import { createTestDatabase } from '../../testing/postgres.ts';
import { DAY, NOW, silent } from '../../testing/retention.ts';
import { type AuditEntry, insertAuditEntries } from '../audit/store.ts';
import { planRetention } from './plan.ts';
import { cutoffsAt } from './policy.ts';
import { sweep } from './sweep.ts';

test('entries of the audit log are purged when they are older than the policy says, in batches', async () => {
  await using db = await createTestDatabase();
  const entryOf = (at: number): AuditEntry => ({
    tenantId: 'acme',
    id: newId(),
    at: new Date(at),
    projectId: null,
    userId: newId(),
    patId: null,
    surface: 'rest',
    operation: 'workflows_create',
    action: null,
    target: {},
    outcome: 'ok',
    requestId: 'r',
    clientAddress: null,
  });
  const cutoff = NOW - 30 * DAY;
  await insertAuditEntries(
    db.pool,
    Array.from({ length: 5_001 }, () => entryOf(cutoff - 1)),
  );
  await insertAuditEntries(db.pool, [entryOf(cutoff), entryOf(NOW)]);
  const count = async () => (await db.pool.query('SELECT FROM audit_entries')).rowCount;
  const runSweep = (auditDays: number) => {
    const cutoffs = cutoffsAt({ runDays: 0, usageMonths: 0, auditDays }, NOW);
    return sweep({ url: db.url, logger: silent, cutoffs, now: NOW, pause: async () => undefined });
  };
  expect(await runSweep(0)).toMatchObject({ auditEntries: 0 });
  const planned = await planRetention(db.url, cutoffsAt({ runDays: 0, usageMonths: 0, auditDays: 30 }, NOW), NOW);
  expect(planned.auditEntries).toBe(5_001);
  expect(await count()).toBe(5_003);
  expect(await runSweep(30)).toMatchObject({ auditEntries: 5_001 });
  expect(await count()).toBe(2);
});
