import { pino } from 'pino';
import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest';
import { declareAudit } from '../../../commands/billing/audit.ts';
import { UsageError } from '../../../commands/command-line.ts';
import { ManualClock } from '../../../platform/clock.ts';
import { newId } from '../../../platform/ids.ts';
import { ensurePartitions } from '../../../platform/postgres/partitions.ts';
import { transact } from '../../../platform/postgres/transaction.ts';
import { charge } from '../../../testing/billing/ledger.ts';
import { runCommand } from '../../../testing/commands.ts';
import { createTestDatabase, type TestDatabase } from '../../../testing/postgres.ts';
import { auditLedger } from './audit-store.ts';
import { countCharges } from './count-store.ts';
import { grantCredits, postCharges, refundCredits } from './post.ts';
import { openAccount } from './store.ts';

let db: TestDatabase;
const auditCommand = (args: string[]) => runCommand(declareAudit, { pool: db.pool, clock }, ['audit', ...args]);
beforeAll(async () => {
  db = await createTestDatabase();
});
afterAll(() => db.close());

const start = Date.UTC(2026, 0, 1);
const DAY = 86_400_000;
const clock = new ManualClock(start);
let tenantId: string;
let runId: string;

/** Creates a workspace with consistent books and some of every kind of entry. */
beforeEach(async () => {
  tenantId = `t-${newId()}`;
  const grant = (account: 'trial' | 'payg', amount: number, expiresAt: number | null) =>
    transact(db.pool, client =>
      grantCredits(client, {
        tenantId,
        account,
        amount,
        expiresAt,
        source: 'operator',
        reference: account,
        note: '',
        at: start,
      }),
    );
  await grant('trial', 100, start + DAY);
  await grant('payg', 1000, null);
  await charge(db.pool, tenantId, 130, start);
  await transact(db.pool, client => postCharges(client, tenantId, start));
  runId = await charge(db.pool, tenantId, 50, start);
  await transact(db.pool, client =>
    refundCredits(client, { tenantId, amount: 20, reference: 'r', note: '', at: start }),
  );
  await transact(db.pool, client => postCharges(client, tenantId, start));
  await charge(db.pool, tenantId, 7, start);
});

/** Makes a change that a trigger would refuse, with the triggers disabled. */
async function corrupt(sql: string): Promise<void> {
  await transact(db.pool, async client => {
    await client.query(`SET LOCAL session_replication_role = 'replica'`);
    const { rowCount } = await client.query(sql.replaceAll('$tenant', tenantId).replaceAll('$run', runId));
    expect(rowCount).toBeGreaterThan(0);
  });
}

const differences = async () => (await auditLedger(db.pool, { tenantId, now: start })).differences;

test('reports nothing for consistent books', async () => {
  const report = await auditLedger(db.pool, { tenantId, now: start });
  expect(report).toEqual({
    tenants: 1,
    ledgerRows: 5,
    runs: { compared: 3, withoutUsage: 0, dropped: 0 },
    notes: [],
    differences: [],
  });
  const { code, text } = await auditCommand(['--tenant', tenantId]);
  expect({ code, text }).toEqual({
    code: 0,
    text: '1 workspace, 5 entries of the ledger, 3 runs compared.\nThe books balance.',
  });
});

describe('finds', () => {
  test.each([
    [
      'a balance that the ledger does not have',
      `UPDATE credit_accounts SET payg = payg + 5 WHERE tenant_id = '$tenant'`,
      [
        ['accounts', 'payg', '940 by the ledger', '945'],
        ['grants', 'grants of payg', '945 remaining, by the account', '940'],
      ],
    ],
    [
      'a missing account',
      `DELETE FROM credit_accounts WHERE tenant_id = '$tenant'`,
      [['accounts', 'trial', '0 by the ledger', 'no account']],
    ],
    [
      'a missing charge',
      `DELETE FROM credit_ledger WHERE tenant_id = '$tenant' AND consumed = 50`,
      [
        ['accounts', 'payg', '990 by the ledger', '940'],
        ['accounts', 'consumed', '110 by the ledger', '160'],
        ['accounts', 'posted', '130 by the ledger', '180'],
      ],
    ],
    [
      'a duplicate charge',
      `INSERT INTO credit_ledger SELECT tenant_id, gen_random_uuid(), kind, trial, included, payg, consumed, expired,
         reference, note, created_at FROM credit_ledger WHERE tenant_id = '$tenant' AND consumed = 50`,
      [['accounts', 'posted', '230 by the ledger', '180']],
    ],
    [
      'a charge without an attempt',
      `UPDATE credit_accounts SET charged = charged + 3 WHERE tenant_id = '$tenant'`,
      [['usage', 'charges', '180 by the usage', '183 charged']],
    ],
    [
      'a posted charge that the account counts as not posted',
      `UPDATE credit_accounts SET posted = posted - 50 WHERE tenant_id = '$tenant'`,
      [['accounts', 'posted', '180 by the ledger', '130']],
    ],
    [
      'an expiry whose amounts do not add up',
      `INSERT INTO credit_ledger (tenant_id, id, kind, payg, expired, created_at)
       VALUES ('$tenant', '00000000-0000-7000-8000-000000000001', 'expiry', -5, 4, '2026-01-01')`,
      [
        [
          'entries',
          'entry 00000000-0000-7000-8000-000000000001',
          'moves what its kind (expiry) moves',
          'payg -5, expired 4, granted 1',
        ],
        ['accounts', 'payg', '935 by the ledger', '940'],
      ],
    ],
    [
      'missing usage',
      `DELETE FROM run_usage WHERE tenant_id = '$tenant' AND microcredits = 50`,
      [
        ['usage', 'charges', '130 by the usage', '180 charged'],
        ['runs', 'run $run, usage', '50 by its events', '0 in the usage'],
      ],
    ],
    [
      'usage at another price',
      `UPDATE run_usage SET microcredits = 51 WHERE tenant_id = '$tenant' AND microcredits = 50`,
      [['runs', 'run $run, usage', '50 by its events', '51 in the usage']],
    ],
    [
      'a run whose row differs from its events',
      `UPDATE runs SET credits_microcredits = 49 WHERE id = '$run'`,
      [['runs', 'run $run', '50 by its events', '49 in its row']],
    ],
    [
      'an event that was changed',
      `UPDATE run_events SET data = '{"result":null,"credits":60}' WHERE run_id = '$run' AND event_type = 'step_completed'`,
      [
        ['runs', 'run $run', '60 by its events', '50 in its row'],
        ['runs', 'run $run, usage', '60 by its events', '50 in the usage'],
      ],
    ],
    [
      'a grant that the ledger does not have',
      `INSERT INTO credit_grants SELECT tenant_id, gen_random_uuid(), account, 10, 0, source, 'none', note, expires_at, created_at
       FROM credit_grants WHERE tenant_id = '$tenant' AND reference = 'payg'`,
      [['grants', 'grants of payg', '1020 by the ledger', '1030 granted']],
    ],
    [
      'grants that hold less than the account',
      `UPDATE credit_grants SET remaining = 900 WHERE tenant_id = '$tenant' AND reference = 'payg'`,
      [['grants', 'grants of payg', '940 remaining, by the account', '920']],
    ],
    [
      'an account whose next expiry leaves out a grant',
      `UPDATE credit_grants SET remaining = 100 WHERE tenant_id = '$tenant' AND reference = 'trial'`,
      [['grants', 'next expiry', '2026-01-02T00:00:00.000Z', 'none']],
    ],
    [
      'a next expiry that no grant has',
      `UPDATE credit_accounts SET next_expiry_at = '2026-01-09T00:00:00Z' WHERE tenant_id = '$tenant'`,
      [['grants', 'next expiry', 'none', '2026-01-09T00:00:00.000Z']],
    ],
  ])('%s', async (_, sql, expected) => {
    await corrupt(sql);
    const found = (await differences()).map(({ check, about, expected: is, found: was }) => [check, about, is, was]);
    for (const [check, about, ...rest] of expected)
      expect(found).toContainEqual([check, String(about).replace('$run', runId), ...rest]);
  });

  test('a grant that outlives its expiry, after a tolerance', async () => {
    const auditAt = (now: number) => auditLedger(db.pool, { tenantId, now });
    await transact(db.pool, client =>
      grantCredits(client, {
        tenantId,
        account: 'included',
        amount: 5,
        expiresAt: start + DAY,
        source: 'operator',
        reference: 'included',
        note: '',
        at: start,
      }),
    );
    expect((await auditAt(start + DAY + 60_000)).differences).toEqual([]);
    expect((await auditAt(start + DAY + 600_000)).differences).toMatchObject([
      { check: 'grants', expected: 'expired at 2026-01-02T00:00:00.000Z', found: '5 remaining' },
    ]);
  });
});

test('after usage was purged, later charges are compared, except for the entry that spans the boundary', async () => {
  await using other = await createTestDatabase();
  const february = Date.UTC(2026, 1, 1);
  await ensurePartitions(other.pool, new ManualClock(february), pino({ level: 'silent' }));
  const post = (at: number) => transact(other.pool, client => postCharges(client, 'acme', at));
  await openAccount(other.pool, 'acme', start);
  for (const [amount, at] of [
    [1000, february - DAY],
    [60, february - 1],
    [40, february],
    [5, february + DAY],
  ] as const) {
    await charge(other.pool, 'acme', amount, at);
    if (amount !== 60) await post(at);
  }
  await charge(other.pool, 'acme', 3, february + 2 * DAY);
  expect(await countCharges(other.pool, february)).toBe('counted');
  const compared = async () => {
    const { differences: found, notes } = await auditLedger(other.pool, { now: february });
    return { usage: found.filter(({ check }) => check === 'usage'), note: notes.join().includes('2026-02-01') };
  };
  expect(await compared()).toEqual({ usage: [], note: false });
  await other.pool.query('DELETE FROM run_usage WHERE created_at < $1', [new Date(february)]);
  expect(await compared()).toEqual({ usage: [], note: true });
  await other.pool.query('UPDATE run_usage SET microcredits = microcredits + 61 WHERE microcredits = 3');
  expect((await compared()).usage).toMatchObject([{ expected: '109 by the usage', found: '108 charged' }]);
  await other.pool.query('UPDATE run_usage SET microcredits = 3 WHERE microcredits = 64');
  await other.pool.query('UPDATE credit_accounts SET charged = charged + 41');
  expect((await compared()).usage).toMatchObject([{ expected: '48 by the usage', found: '149 charged' }]);
});

test('notes runs that cannot be compared', async () => {
  await corrupt(`DELETE FROM runs WHERE id = '$run'`);
  const report = await auditLedger(db.pool, { tenantId, now: start });
  expect(report.differences).toEqual([]);
  expect(report.runs).toMatchObject({ compared: 2, dropped: 1 });
  expect(report.notes.join()).toContain('1 runs with usage are past their retention');
});

test('prints a table, or JSON with --json, and exits with code 1', async () => {
  await corrupt(`UPDATE runs SET credits_microcredits = 49 WHERE id = '$run'`);
  const { code, text } = await auditCommand(['--tenant', tenantId]);
  expect(code).toBe(1);
  expect(text).toMatch(/^check {2}workspace .*about .*expected .*found$/m);
  expect(text).toContain(`run ${runId}  50 by its events  49 in its row`);
  expect(text).toContain('1 difference: the books do not balance.');
  const json = await auditCommand(['--tenant', tenantId, '--json']);
  expect(json.code).toBe(1);
  expect(JSON.parse(json.text).differences).toHaveLength(1);
  await expect(auditCommand(['--tenat', 'x'])).rejects.toThrow(UsageError);
});
