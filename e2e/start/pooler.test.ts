import { afterAll, beforeAll, expect, test } from 'vitest';
import { createEmbeddedOrchestrator } from '../../server/orchestrator/runtime/index.ts';
import { systemClock } from '../../server/platform/clock.ts';
import { createLogger } from '../../server/platform/logger.ts';
import { createPool, openDatabase } from '../../server/platform/postgres/database.ts';
import { expectOwnBackends } from '../../server/platform/postgres/own-backends.ts';
import { DEFAULT_CONFIG } from '../../server/testing/engine/runtime.ts';
import { createTestDatabase, type TestDatabase } from '../../server/testing/postgres.ts';
import { Pooler } from '../fixtures/pooler.ts';

const logger = createLogger('silent');
let db: TestDatabase;
beforeAll(async () => {
  db = await createTestDatabase();
});
afterAll(() => db.close());

function orchestrator(url: string) {
  return createEmbeddedOrchestrator({
    pool: db.pool,
    connectionString: url,
    clock: systemClock,
    logger,
    stepTypes: new Map(),
    config: {
      maxInFlight: 8,
      maxInFlightPerTenant: 8,
      maxCallsInFlight: 8,
      maxActiveRunsPerTenant: 10,
      maxDescendants: 10,
      maxActiveDescendants: 10,
      shutdownGraceMs: 0,
      memory: DEFAULT_CONFIG.memory,
    },
  });
}

test('behind a pooler in session mode that refuses unknown parameters, the pool has its time limits, and one process leads', async () => {
  await using pooler = await Pooler.start(db.url, 'session');
  await expectOwnBackends(pooler.url);
  const pool = createPool(pooler.url, 1, logger);
  try {
    const { rows } = await pool.query(
      `SELECT current_setting('statement_timeout') AS statement, current_setting('idle_in_transaction_session_timeout') AS idle`,
    );
    expect(rows).toEqual([{ statement: '8s', idle: '1min' }]);
  } finally {
    await pool.end();
  }
  const leader = orchestrator(pooler.url);
  await leader.ready;
  expect(leader.status()).toBe('leading');
  const standby = orchestrator(pooler.url);
  await standby.ready;
  expect(standby.status()).toBe('standby');
  await leader.close();
  await expect.poll(() => standby.status()).toBe('leading');
  await standby.close();
});

test('behind a pooler in transaction mode, the service refuses to start, with the reason in one line', async () => {
  await using pooler = await Pooler.start(db.url, 'transaction');
  const config = { database: { url: pooler.url, dataDir: '', pool: 3 } };
  await expect(openDatabase(config, logger)).rejects.toMatchObject({
    name: 'StartupError',
    message: expect.stringMatching(/^DATABASE_URL leads to a pooler .* session pooling, .*directly\.$/),
  });
});

test('two processes behind a pooler in transaction mode are never both leader', async () => {
  await using pooler = await Pooler.start(db.url, 'transaction');
  const one = orchestrator(pooler.url);
  await one.ready;
  expect(one.status()).toBe('leading');
  const other = orchestrator(pooler.url);
  await expect.poll(() => other.unavailableReason()).toMatch(/pooler in transaction mode/);
  // The first process detects at its next check that its backend has changed.
  await expect.poll(() => one.unavailableReason()).toMatch(/pooler in transaction mode/);
  await one.close();
  await other.close();
});
