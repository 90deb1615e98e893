import { randomBytes } from 'node:crypto';
import { expect, test } from 'vitest';
import { rotateMasterKey } from '../platform/secrets/database-secret-store.ts';
import { startTestContainer } from '../testing/container.ts';
import { createContainer } from './container.ts';

test('a process with another master key does not start, and one whose key was replaced does not lead', async () => {
  const leader = await startTestContainer();
  const { config, logger } = leader.container.services;
  const foreign = { ...config, identity: { ...config.identity, masterKey: randomBytes(32).toString('base64') } };
  await expect(createContainer({ config: foreign, logger, database: leader.db })).rejects.toThrow(
    /^BATON_MASTER_KEY is not the master key of this database/,
  );
  const standby = await createContainer({ config, logger, database: leader.db });
  await standby.ready;
  const { orchestrator } = standby.services;
  expect(orchestrator.status()).toBe('standby');
  await rotateMasterKey(leader.db.pool, { from: Buffer.alloc(32, 7), to: randomBytes(32) });
  await leader.container.close();
  await expect.poll(() => orchestrator.status()).toBe('unavailable');
  expect(orchestrator.unavailableReason()).toMatch(/^The master key of the database was replaced .* restart it/);
  // The right key again, as after a rotation that was undone, and it leads.
  await leader.db.pool.query('DELETE FROM installation');
  await expect.poll(() => orchestrator.status()).toBe('leading');
  await standby.close();
  await leader.close();
});
