import { pino } from 'pino';
import { afterAll, beforeAll, expect, test } from 'vitest';
import type { BillingMode } from '../../../operation/billing-settings.ts';
import { ManualClock } from '../../../platform/clock.ts';
import { newId } from '../../../platform/ids.ts';
import { transact } from '../../../platform/postgres/transaction.ts';
import { charge } from '../../../testing/billing/ledger.ts';
import { testConfig } from '../../../testing/identity.ts';
import { createTestDatabase, type TestDatabase } from '../../../testing/postgres.ts';
import { readWarnings } from '../ledger/credit-store.ts';
import { grantCredits, refundCredits } from '../ledger/post.ts';
import { createCreditSource } from './credit-source.ts';

let db: TestDatabase;
beforeAll(async () => {
  db = await createTestDatabase();
});
afterAll(() => db.close());

function setUp(mode: BillingMode = 'on') {
  const lines: Record<string, unknown>[] = [];
  const logger = pino({ level: 'info' }, { write: line => void lines.push(JSON.parse(line)) });
  const clock = new ManualClock();
  const config = testConfig({ BATON_BILLING: mode });
  const tenantId = newId();
  const grant = (amount: number) =>
    transact(db.pool, client =>
      grantCredits(client, {
        tenantId,
        account: 'payg',
        amount,
        expiresAt: null,
        source: 'operator',
        reference: null,
        note: '',
        at: clock.now(),
      }),
    );
  const source = createCreditSource({ pool: db.pool, clock, logger, config });
  return { source, lines, clock, tenantId, grant, charge: (amount: number) => charge(db.pool, tenantId, amount, 0) };
}

test('opens an account for a workspace without one, and returns its prices and balance', async () => {
  const { source, tenantId, grant } = setUp();
  expect(await source.load(tenantId)).toMatchObject({ consumed: 0, whenExhausted: 'fail', enforced: true });
  const before = (await source.load(tenantId)).balance;
  await grant(500);
  const other = newId();
  const credits = await source.refresh([tenantId, other]);
  expect([...credits.keys()]).toEqual([tenantId]);
  expect(credits.get(tenantId)).toMatchObject({ balance: before + 500, allowance: before + 500 });
  for (const mode of ['metered', 'off'] as const)
    expect(await setUp(mode).source.load(tenantId)).toMatchObject({ enforced: false });
});

test('the total of charges never falls, even after a refund', async () => {
  const { source, tenantId, grant, charge, clock } = setUp();
  await source.load(tenantId);
  await grant(500);
  const full = (await source.load(tenantId)).balance;
  await charge(300);
  const refund = { tenantId, amount: 100, reference: 'r', note: '', at: clock.now() };
  await transact(db.pool, client => refundCredits(client, refund));
  expect(await source.load(tenantId)).toMatchObject({ consumed: 300, balance: full - 200 });
});

test.each(['on', 'metered'] as const)(
  'with billing %s a warning is kept once for each allowance, where it is true',
  async mode => {
    const { source, tenantId, grant, charge, lines } = setUp(mode);
    const { balance } = await source.load(tenantId);
    await charge(balance);
    await grant(1000);
    await charge(799);
    source.thresholdCrossed(tenantId, 80); // not yet
    await source.settled();
    expect(await readWarnings(db.pool, tenantId)).toEqual([]);
    await charge(1);
    for (let again = 0; again < 5; again++) source.thresholdCrossed(tenantId, 80);
    await source.settled();
    await charge(200);
    source.thresholdCrossed(tenantId, 100);
    await source.settled();
    expect((await readWarnings(db.pool, tenantId)).map(({ percent }) => percent)).toEqual([80, 100]);
    // Metered credits that have run out stop no run, so the operator needs no warning.
    const logged = [80, 100].map(percent => ({ level: 40, tenant_id: tenantId, percent }));
    expect(lines).toMatchObject(mode === 'on' ? logged : []);
    await grant(1000);
    expect(await readWarnings(db.pool, tenantId)).toEqual([]);
    await charge(900);
    source.thresholdCrossed(tenantId, 80);
    await source.settled();
    expect(await readWarnings(db.pool, tenantId)).toHaveLength(1);
  },
);

test('an unavailable database is logged', async () => {
  const other = await createTestDatabase();
  const { clock, lines, tenantId } = setUp();
  const logger = pino({ level: 'info' }, { write: line => void lines.push(JSON.parse(line)) });
  const source = createCreditSource({ pool: other.pool, clock, logger, config: testConfig({}) });
  await other.close();
  source.thresholdCrossed(tenantId, 80);
  await source.settled();
  expect(lines).toMatchObject([{ level: 40, percent: 80 }]);
  await expect(source.load(tenantId)).rejects.toThrow();
});
