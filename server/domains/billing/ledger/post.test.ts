import { afterAll, beforeAll, expect, test } from 'vitest';
import { CREDIT, MAX_MICROCREDITS } from '../../../orchestrator/ports/microcredits.ts';
import { newId } from '../../../platform/ids.ts';
import { transact } from '../../../platform/postgres/transaction.ts';
import { charge } from '../../../testing/billing/ledger.ts';
import { createTestDatabase, type TestDatabase } from '../../../testing/postgres.ts';
import type { SpendableAccount } from './books.ts';
import {
  expireDue,
  grantCredits,
  type NewGrant,
  postCharges,
  readBalances,
  refundCredits,
  reverseGrant,
} from './post.ts';
import { openAccount } from './store.ts';

let db: TestDatabase;
beforeAll(async () => {
  db = await createTestDatabase();
});
afterAll(() => db.close());

const start = Date.UTC(2026, 0, 1);
const DAY = 86_400_000;

/** Creates a workspace and returns operations on its credits, each in a transaction. */
function workspace() {
  const tenantId = newId();
  const timeOnDay = (day: number) => start + day * DAY;
  return {
    tenantId,
    grant: (account: SpendableAccount, amount: number, more: Partial<NewGrant> & { day?: number } = {}) =>
      transact(db.pool, client =>
        grantCredits(client, {
          ...{ tenantId, account, amount, expiresAt: null, source: 'operator', reference: null, note: 'n' },
          ...{ at: timeOnDay(more.day ?? 0) },
          ...more,
        }),
      ),
    charge: (amount: number) => charge(db.pool, tenantId, amount, start),
    expire: (day: number) => transact(db.pool, client => expireDue(client, tenantId, timeOnDay(day))),
    reverseGrant: (reference: string, kindReference: string, amount?: number) =>
      transact(db.pool, client =>
        reverseGrant(client, {
          tenantId,
          reference,
          kindReference,
          note: '',
          at: start,
          ...(amount ? { amount } : {}),
        }),
      ),
    refund: (amount: number, reference: string) =>
      transact(db.pool, client => refundCredits(client, { tenantId, amount, reference, note: 'sorry', at: start })),
    balances: () => readBalances(db.pool, tenantId),
    remaining: async () => {
      const { rows } = await db.pool.query(
        'SELECT reference, remaining FROM credit_grants WHERE tenant_id = $1 ORDER BY id',
        [tenantId],
      );
      return Object.fromEntries(rows.map(row => [row.reference, Number(row.remaining)]));
    },
    post: (at = start) => transact(db.pool, client => postCharges(client, tenantId, at)),
    charges: async () => {
      const { rows } = await db.pool.query(
        `SELECT trial::int, included::int, payg::int, consumed::int, granted::int, created_at
         FROM credit_entries WHERE tenant_id = $1 AND kind = 'charge' ORDER BY id`,
        [tenantId],
      );
      return rows.map(({ created_at, ...amounts }) => ({ ...amounts, at: created_at.getTime() - start }));
    },
    kinds: async () => {
      const { rows } = await db.pool.query('SELECT kind FROM credit_ledger WHERE tenant_id = $1 ORDER BY id', [
        tenantId,
      ]);
      return rows.map(row => row.kind).join(' ');
    },
  };
}

test('a workspace without an account has no credits, and opening it twice has no further effect', async () => {
  const { tenantId, balances } = workspace();
  expect(await balances()).toMatchObject({ trial: 0, included: 0, payg: 0, allowance: 0, nextExpiryAt: null });
  await openAccount(db.pool, tenantId, start);
  await openAccount(db.pool, tenantId, start + 1);
  expect(await balances()).toMatchObject({ granted: 0, whenExhausted: 'fail' });
});

test('concurrent grants with one reference happen once', async () => {
  const { grant, balances, kinds } = workspace();
  const asked = await Promise.all(
    Array.from({ length: 8 }, () => grant('included', 5 * CREDIT, { reference: 'period:x' })),
  );
  expect(asked.filter(done => done)).toHaveLength(1);
  expect(await balances()).toMatchObject({ included: 5 * CREDIT, granted: -5 * CREDIT, allowance: 5 * CREDIT });
  expect(await kinds()).toBe('grant');
  expect(await grant('payg', 1)).toBe(true);
  expect(await grant('payg', 1)).toBe(true);
  expect(await balances()).toMatchObject({ payg: 2, allowance: 5 * CREDIT + 2 });
  expect(await grant('payg', 0, { reference: 'none' })).toBe(false);
});

test('a charge is taken from trial, included and pay-as-you-go in this order, and the uncovered part is waived', async () => {
  const { grant, charge, post, charges, balances } = workspace();
  await grant('trial', 120);
  await grant('included', 100);
  await grant('payg', 50);
  const left: number[][] = [];
  for (let n = 1; n <= 3; n++) {
    await charge(60);
    await charge(40);
    const { trial, included, payg, consumed, granted } = await balances();
    expect(await post(start + n)).toBe(100);
    expect(await balances()).toMatchObject({ trial, included, payg, consumed, granted });
    left.push([trial, included, payg, consumed, granted]);
  }
  expect(left).toEqual([
    [20, 100, 50, 100, -270],
    [0, 20, 50, 200, -270],
    [0, 0, 0, 300, -300],
  ]);
  expect(await charges()).toEqual([
    { trial: -100, included: 0, payg: 0, consumed: 100, granted: 0, at: 1 },
    { trial: -20, included: -80, payg: 0, consumed: 100, granted: 0, at: 2 },
    { trial: 0, included: -20, payg: -50, consumed: 100, granted: -30, at: 3 },
  ]);
  expect(await post()).toBe(0);
  expect(await charges()).toHaveLength(3);
});

test('a later grant does not pay for waived charges, only for its own', async () => {
  const { grant, charge, balances, kinds } = workspace();
  await grant('payg', 30);
  await charge(100);
  await grant('payg', 50);
  expect(await balances()).toMatchObject({ payg: 50, consumed: 100, granted: -150, allowance: 50 });
  expect(await kinds()).toBe('grant charge grant');
});

test('charges use the grant that expires first; its expiry takes the remainder', async () => {
  const { grant, charge, expire, balances, remaining } = workspace();
  await grant('included', 100, { reference: 'late', expiresAt: start + 20 * DAY });
  await grant('included', 100, { reference: 'never' });
  await grant('included', 100, { reference: 'early', expiresAt: start + 10 * DAY });
  expect((await balances()).nextExpiryAt).toBe(start + 10 * DAY);
  await charge(130);
  expect(await expire(9)).toBe(0);
  expect(await expire(10)).toBe(0); // all of it is spent
  expect(await remaining()).toEqual({ late: 70, never: 100, early: 0 });
  expect((await balances()).nextExpiryAt).toBe(start + 20 * DAY);
  expect(await expire(30)).toBe(70);
  expect(await expire(30)).toBe(0);
  expect(await balances()).toMatchObject({ included: 100, consumed: 130, expired: 70, granted: -300 });
  // Of 300 granted, 130 were used and 70 have expired: the warnings refer to 230.
  expect(await balances()).toMatchObject({ allowance: 230, nextExpiryAt: null });
});

test('due grants expire in the order of their expiry, before the next entry', async () => {
  const { grant, charge, balances, remaining, kinds } = workspace();
  await grant('trial', 10, { reference: 'a', expiresAt: start + 2 * DAY });
  await grant('included', 10, { reference: 'b', expiresAt: start + DAY });
  await charge(4);
  await grant('included', 10, { reference: 'c', expiresAt: start + 9 * DAY, day: 3 });
  expect(await kinds()).toBe('grant grant charge expiry expiry grant');
  expect(await remaining()).toEqual({ a: 0, b: 0, c: 10 });
  expect(await balances()).toMatchObject({ trial: 0, included: 10, expired: 16, consumed: 4, allowance: 10 });
  const { rows } = await db.pool.query(
    `SELECT trial, included FROM credit_ledger WHERE kind = 'expiry' AND tenant_id = (SELECT tenant_id FROM credit_grants
       WHERE reference = 'c' AND source = 'operator') ORDER BY id`,
  );
  expect(rows).toEqual([
    { trial: '0', included: '-10' },
    { trial: '-6', included: '0' },
  ]);
});

test('a grant that is already expired adds nothing', async () => {
  const { grant, balances } = workspace();
  await grant('included', 7, { expiresAt: start, day: 1 });
  expect(await balances()).toMatchObject({ included: 0, expired: 7, granted: -7, nextExpiryAt: null, allowance: 0 });
});

test('the remainder of a grant can be reversed, once for each reason', async () => {
  const { grant, charge, reverseGrant, balances, remaining } = workspace();
  await grant('payg', 100, { reference: 'payment:1' });
  await grant('payg', 100, { reference: 'payment:2' });
  await charge(120);
  expect(await reverseGrant('payment:2', 'r1', 30)).toBe(30);
  expect(await reverseGrant('payment:2', 'r1', 30)).toBe(0);
  expect(await reverseGrant('payment:2', 'r2')).toBe(50);
  expect(await reverseGrant('payment:1', 'r3')).toBe(0);
  expect(await reverseGrant('payment:9', 'r4')).toBe(0);
  expect(await balances()).toMatchObject({ payg: 0, consumed: 120, granted: -120, allowance: 120 });
  expect(Object.values(await remaining())).toEqual([0, 0]);
});

test('a refund returns at most what was charged', async () => {
  const { grant, charge, refund, balances } = workspace();
  await grant('trial', 50, { expiresAt: start + DAY });
  await charge(40);
  expect(await refund(25, 'incident')).toBe(true);
  expect(await refund(25, 'incident')).toBe(false);
  expect(await balances()).toMatchObject({ trial: 10, payg: 25, consumed: 15, granted: -50, allowance: 35 });
  await expect(refund(16, 'more')).rejects.toMatchObject({ status: 422, code: 'refund_exceeds_charges' });
  expect(await refund(15, 'rest')).toBe(true);
});

test('amounts stay within what JSON represents exactly', async () => {
  const { grant, balances } = workspace();
  for (const amount of [-1, 0.5, Number.NaN, MAX_MICROCREDITS + 1])
    await expect(grant('payg', amount)).rejects.toMatchObject({ status: 422, code: 'invalid_amount' });
  expect(await grant('payg', MAX_MICROCREDITS)).toBe(true);
  await expect(grant('trial', 1)).rejects.toMatchObject({ status: 422, code: 'credit_limit' });
  expect(await balances()).toMatchObject({ payg: MAX_MICROCREDITS, granted: -MAX_MICROCREDITS });
});

test('a transaction that is rolled back has no effect', async () => {
  const { tenantId, balances, kinds } = workspace();
  const failed = transact(db.pool, async client => {
    await grantCredits(client, {
      ...{
        tenantId,
        account: 'payg',
        amount: 5,
        expiresAt: null,
        source: 'topup',
        reference: 'p',
        note: '',
        at: start,
      },
    });
    throw new Error('the payment failed');
  });
  await expect(failed).rejects.toThrow('the payment failed');
  expect(await balances()).toMatchObject({ payg: 0 });
  expect(await kinds()).toBe('');
});

test('the ledger cannot be changed', async () => {
  const { grant } = workspace();
  await grant('payg', 5);
  for (const sql of ['UPDATE credit_ledger SET payg = 6', 'DELETE FROM credit_ledger', 'TRUNCATE credit_ledger'])
    await expect(db.pool.query(sql)).rejects.toThrow('append-only');
});
