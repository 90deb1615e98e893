import { afterAll, beforeAll, expect, test } from 'vitest';
import type { Services } from '../../../operation/services.ts';
import { CREDIT } from '../../../orchestrator/ports/microcredits.ts';
import { ManualClock } from '../../../platform/clock.ts';
import { transact } from '../../../platform/postgres/transaction.ts';
import { charge } from '../../../testing/billing/ledger.ts';
import { createCall } from '../../../testing/call.ts';
import { createTestServices, createTestTenant, type TestTenant } from '../../../testing/identity.ts';
import { createTestDatabase, type TestDatabase } from '../../../testing/postgres.ts';
import { grantCredits } from '../ledger/post.ts';
import { ledgerOperations } from './operations.ts';

const DAY = 86_400_000;
const clock = new ManualClock();
const start = clock.now();
let db: TestDatabase;
let services: Services;
let acme: TestTenant;
let call: ReturnType<typeof createCall<typeof ledgerOperations>>;
beforeAll(async () => {
  db = await createTestDatabase();
  services = createTestServices(db, { clock });
  acme = await createTestTenant(services, { slug: 'acme' });
  call = createCall(services, ledgerOperations);
});
afterAll(() => db.close());

type Entry = { id: string; kind: string; payg: number; created_at: string };
type Entries = { entries: Entry[]; next_cursor: string | null };
const list = async (input: object = {}) => (await call(acme.contributor, 'billing_ledger_list', input)) as Entries;

test('a new workspace has the credits of the onboarding plan', async () => {
  expect(await call(acme.contributor, 'billing_usage')).toEqual({
    trial_remaining: 0,
    included_remaining: 10_000 * CREDIT,
    payg_remaining: 0,
    total_remaining_microcredits: 10_000 * CREDIT,
  });
  expect((await list()).entries).toMatchObject([
    { kind: 'grant', included: 10_000 * CREDIT, granted: -10_000 * CREDIT },
  ]);
});

test('expired credits are gone even if no job has run', async () => {
  await transact(db.pool, client =>
    grantCredits(client, {
      tenantId: 'acme',
      account: 'trial',
      amount: 500,
      expiresAt: start + DAY,
      source: 'operator',
      reference: null,
      note: 'A day',
      at: start,
    }),
  );
  expect(await call(acme.contributor, 'billing_usage')).toMatchObject({ trial_remaining: 500 });
  clock.advance(DAY);
  expect(await call(acme.contributor, 'billing_usage')).toMatchObject({ trial_remaining: 0 });
  expect((await list({ limit: 1 })).entries).toMatchObject([
    { kind: 'expiry', trial: -500, expired: 500, note: 'A day' },
  ]);
});

test('entries are paged, newest first, and filtered by kind and time', async () => {
  const from = clock.now();
  for (let n = 0; n < 5; n++) {
    await charge(db.pool, 'acme', 10 + n, clock.now());
    await charge(db.pool, 'acme', 1, clock.now());
    expect((await list({ limit: 1 })).entries).toMatchObject([{ kind: 'charge', included: -11 - n, consumed: 11 + n }]);
    clock.advance(1000);
  }
  const all = (await list()).entries;
  expect(all.map(({ id }) => id)).toEqual(
    all
      .map(({ id }) => id)
      .sort()
      .reverse(),
  );
  const paged: Entry[] = [];
  for (let cursor: string | null | undefined; cursor !== null; ) {
    const page = await list({ limit: 3, ...(cursor ? { cursor } : {}) });
    paged.push(...page.entries);
    cursor = page.next_cursor;
  }
  expect(paged).toEqual(all);
  expect((await list({ kind: 'charge' })).entries).toHaveLength(5);
  expect((await list({ kind: 'grant' })).entries).toHaveLength(2);
  expect((await list({ kind: 'refund' })).entries).toEqual([]);
  const timeAfter = (seconds: number) => new Date(from + seconds * 1000).toISOString();
  expect((await list({ from: timeAfter(1), to: timeAfter(3) })).entries.map(entry => entry.kind)).toEqual([
    'charge',
    'charge',
  ]);
  await expect(list({ cursor: 'W10' })).rejects.toMatchObject({ status: 422 });
});

test('charges are posted when the first page of entries or charges is requested', async () => {
  const charges = async () =>
    (await db.pool.query(`SELECT FROM credit_ledger WHERE tenant_id = 'acme' AND kind = 'charge'`)).rowCount;
  const before = await charges();
  const { next_cursor: cursor } = await list({ limit: 1 });
  await charge(db.pool, 'acme', 7, clock.now());
  for (const input of [{ kind: 'grant' }, { limit: 1, cursor }]) await list(input);
  expect(await charges()).toBe(before);
  expect((await list({ kind: 'charge', limit: 1 })).entries).toMatchObject([{ consumed: 7 }]);
  await list();
  expect(await charges()).toBe((before ?? 0) + 1);
});

test('the entries of another workspace are not visible', async () => {
  const rival = await createTestTenant(services, { slug: 'rival' });
  const { entries } = (await call(rival.contributor, 'billing_ledger_list')) as Entries;
  expect(entries.map(({ kind }) => kind)).toEqual(['grant']);
});
