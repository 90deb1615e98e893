import type { ClientBase, Pool } from 'pg';
import { MINUTE_MS } from '../../../platform/clock.ts';
import { auditRuns, type RunsAudited } from './audit-runs-store.ts';
import { type Account, accounts, spendable } from './books.ts';
import { COUNTED } from './count-store.ts';

/** An inconsistency between two sources, with the value of each. */
export type Difference = {
  check: 'accounts' | 'entries' | 'usage' | 'runs' | 'grants';
  tenantId: string;
  /** The subject of the difference, such as an account, a run or a grant. */
  about: string;
  expected: string;
  found: string;
};

export type AuditReport = {
  tenants: number;
  ledgerRows: number;
  runs: RunsAudited;
  /** The parts that could not be compared, and why. */
  notes: string[];
  differences: Difference[];
};

export type AuditOptions = {
  /** Restricts the audit to this workspace. */
  tenantId?: string;
  /** ms since the epoch. */
  now: number;
};

/** The state that the checks share: one snapshot, and the list of differences. */
export type Audit = AuditOptions & {
  client: ClientBase;
  /** Usage is complete from this instant on; null: none was purged. */
  usageSince: Date | null;
  report: AuditReport;
  differs: (difference: Difference) => void;
};

/** The job expires grants when they are due; a grant that remains longer than this is reported. */
const EXPIRY_TOLERANCE_MS = 5 * MINUTE_MS;

/**
 * Recomputes every balance from the ledger, the usage and the event log, and reports differences. It uses one snapshot,
 * takes no lock and ignores charges made meanwhile; it reads logs page by page. Runs and usage that retention has
 * purged are left out and reported.
 */
export async function auditLedger(pool: Pool, options: AuditOptions): Promise<AuditReport> {
  const client = await pool.connect();
  try {
    await client.query('BEGIN ISOLATION LEVEL REPEATABLE READ READ ONLY');
    // The pool's statement timeout is meant for requests; an audit takes as long as it needs.
    await client.query('SET LOCAL statement_timeout = 0');
    const report: AuditReport = {
      tenants: 0,
      ledgerRows: 0,
      runs: { compared: 0, withoutUsage: 0, dropped: 0 },
      notes: [],
      differences: [],
    };
    const audit: Audit = {
      ...options,
      client,
      report,
      usageSince: await retainedSince(client),
      differs: difference => void report.differences.push(difference),
    };
    await auditAccounts(audit);
    await auditEntries(audit);
    await auditUsage(audit);
    await auditGrants(audit);
    await auditRuns(audit);
    return report;
  } finally {
    await client.query('ROLLBACK').catch(() => undefined);
    client.release();
  }
}

/**
 * Returns the start of the oldest partition that exists, if no usage precedes it; null if none was purged. Retention
 * drops whole months, oldest first.
 */
async function retainedSince(client: ClientBase): Promise<Date | null> {
  const { rows } = await client.query<{ since: Date | null }>(
    `WITH first AS (
       SELECT min(substring(pg_get_expr(c.relpartbound, c.oid) FROM 'FROM \\(''([^'']+)''')::timestamptz) AS since
       FROM pg_inherits i JOIN pg_class c ON c.oid = i.inhrelid WHERE i.inhparent = 'run_usage'::regclass)
     SELECT since FROM first WHERE NOT EXISTS (SELECT FROM run_usage WHERE created_at < first.since)`,
  );
  return rows[0]?.since ?? null;
}

/** Accounts that are compared with the ledger. `posted` is not one of them, but the charges of all. */
const COMPARED = ['trial', 'included', 'payg', 'consumed', 'expired', 'posted'] as const;

/** Checks that the accounts equal the totals of the ledger, and that `posted` equals the charges in it. */
async function auditAccounts({ client, tenantId, report, differs }: Audit): Promise<void> {
  type Name = (typeof COMPARED)[number];
  type Row = { tenant_id: string; rows: string } & Record<`a_${Name}` | `l_${Name}`, string | null>;
  const sum = (name: Name) =>
    name === 'posted' ? `coalesce(sum(consumed) FILTER (WHERE kind = 'charge'), 0)` : `sum(${name})`;
  const { rows } = await client.query<Row>(
    `SELECT coalesce(a.tenant_id, l.tenant_id) AS tenant_id, coalesce(l.rows, 0) AS rows,
            ${COMPARED.map(name => `a.${name} AS a_${name}, l.${name} AS l_${name}`).join(', ')}
     FROM (SELECT * FROM credit_accounts WHERE $1::text IS NULL OR tenant_id = $1) a
     FULL JOIN (SELECT tenant_id, count(*) AS rows, ${COMPARED.map(name => `${sum(name)} AS ${name}`).join(', ')}
                FROM credit_ledger WHERE $1::text IS NULL OR tenant_id = $1 GROUP BY tenant_id) l
       ON l.tenant_id = a.tenant_id ORDER BY 1`,
    [tenantId ?? null],
  );
  for (const row of rows) {
    report.tenants += 1;
    report.ledgerRows += Number(row.rows);
    for (const name of COMPARED) {
      const expected = row[`l_${name}`] ?? '0';
      const found = row[`a_${name}`] ?? 'no account';
      if (expected !== found)
        differs({
          check: 'accounts',
          tenantId: row.tenant_id,
          about: name,
          expected: `${expected} by the ledger`,
          found,
        });
    }
  }
}

/**
 * `granted` is the negated sum of the others, so every entry adds up to 0; only its shape shows
 * whether it is right for its kind.
 */
const SHAPE = `CASE kind
  WHEN 'grant' THEN least(trial, included, payg) >= 0 AND consumed = 0 AND expired = 0
  WHEN 'charge' THEN greatest(trial, included, payg) <= 0 AND consumed > 0 AND expired = 0 AND granted <= 0
  WHEN 'expiry' THEN greatest(trial, included, payg) <= 0 AND consumed = 0 AND expired > 0 AND granted = 0
  WHEN 'refund' THEN least(trial, included, payg) >= 0 AND consumed < 0 AND expired = 0 AND granted = 0
  WHEN 'reversal' THEN greatest(trial, included, payg) <= 0 AND consumed = 0 AND expired = 0
  ELSE false END`;

/** Checks that each entry changes only the accounts that its kind may change. */
async function auditEntries({ client, tenantId, differs }: Audit): Promise<void> {
  const { rows } = await client.query<Record<Account | 'tenant_id' | 'id' | 'kind', string>>(
    `SELECT tenant_id, id, kind, ${accounts.join(', ')} FROM credit_entries
     WHERE ($1::text IS NULL OR tenant_id = $1) AND NOT ${SHAPE} ORDER BY 1, 2`,
    [tenantId ?? null],
  );
  for (const row of rows)
    differs({
      check: 'entries',
      tenantId: row.tenant_id,
      about: `entry ${row.id}`,
      expected: `moves what its kind (${row.kind}) moves`,
      found: accounts.flatMap(name => (row[name] === '0' ? [] : [`${name} ${row[name]}`])).join(', '),
    });
}

/** Compares the counted charges with the usage up to that number. */
async function auditUsage({ client, tenantId, usageSince, report, differs }: Audit): Promise<void> {
  type Row = Record<'tenant_id' | 'charged' | 'used' | 'since' | 'edge' | 'used_since', string> & { older: boolean };
  const { rows } = await client.query<Row>(
    `WITH accounts AS (
       SELECT a.tenant_id, a.charged, a.charged - a.posted AS pending, coalesce(l.before, 0) AS before, l.edge,
              a.created_at < $2 AS older
       FROM credit_accounts a LEFT JOIN (
         SELECT tenant_id, sum(consumed) FILTER (WHERE created_at < $2) AS before,
                (array_agg(consumed ORDER BY created_at) FILTER (WHERE created_at >= $2))[1] AS edge
         FROM credit_ledger WHERE kind = 'charge' GROUP BY tenant_id) l ON l.tenant_id = a.tenant_id
       WHERE $1::text IS NULL OR a.tenant_id = $1),
     used AS (
       SELECT u.tenant_id, sum(u.microcredits) AS used,
              coalesce(sum(u.microcredits) FILTER (WHERE u.created_at >= $2), 0) AS used_since
       FROM run_usage u LEFT JOIN credit_accounts a ON a.tenant_id = u.tenant_id
       WHERE ($1::text IS NULL OR u.tenant_id = $1) AND u.seq <= ${COUNTED} GROUP BY u.tenant_id)
     SELECT coalesce(a.tenant_id, u.tenant_id) AS tenant_id, coalesce(charged, 0) AS charged, coalesce(used, 0) AS used,
            coalesce(charged - before, 0) AS since, coalesce(edge, pending, 0) AS edge, coalesce(used_since, 0) AS used_since,
            coalesce(older, false) AS older
     FROM accounts a FULL JOIN used u ON u.tenant_id = a.tenant_id ORDER BY 1`,
    [tenantId ?? null, usageSince ?? new Date(0)],
  );
  const partly: string[] = [];
  for (const row of rows) {
    if (row.charged === row.used) continue;
    const older = usageSince !== null && row.older;
    if (older) partly.push(row.tenant_id);
    // The first entry after the edge partly covers the time before it, whose usage was purged with the previous month.
    const missing = BigInt(row.since) - BigInt(row.used_since);
    if (older && missing >= 0n && missing <= BigInt(row.edge)) continue;
    differs({
      check: 'usage',
      tenantId: row.tenant_id,
      about: older ? `charges since ${usageSince.toISOString()}` : 'charges',
      expected: `${older ? row.used_since : row.used} by the usage`,
      found: `${older ? row.since : row.charged} charged`,
    });
  }
  if (partly.length > 0 && usageSince !== null)
    report.notes.push(
      `Usage of before ${usageSince.toISOString()} is past its retention: charges since then were compared for ${partly.join(', ')}.`,
    );
}

/** Checks that the remaining grants equal the accounts, that each was posted, and that none has outlived its expiry. */
async function auditGrants({ client, tenantId, now, differs }: Audit): Promise<void> {
  type Row = Record<'tenant_id' | 'account' | 'balance' | 'remaining' | 'granted' | 'posted', string>;
  const { rows } = await client.query<Row>(
    `WITH held AS (
       SELECT tenant_id, account, sum(remaining) AS remaining, sum(amount) AS granted FROM credit_grants GROUP BY 1, 2),
     moved AS (
       SELECT tenant_id, account, sum(amount) AS posted
       FROM credit_ledger, LATERAL (VALUES ${spendable.map(name => `('${name}', ${name})`).join(', ')}) v(account, amount)
       WHERE kind IN ('grant', 'refund') AND reference IS NOT NULL AND ($1::text IS NULL OR tenant_id = $1) GROUP BY 1, 2)
     SELECT a.tenant_id, v.account, v.balance, coalesce(h.remaining, 0) AS remaining, coalesce(h.granted, 0) AS granted,
            coalesce(m.posted, 0) AS posted
     FROM credit_accounts a
     CROSS JOIN LATERAL (VALUES ${spendable.map(name => `('${name}', a.${name})`).join(', ')}) v(account, balance)
     LEFT JOIN held h ON h.tenant_id = a.tenant_id AND h.account = v.account
     LEFT JOIN moved m ON m.tenant_id = a.tenant_id AND m.account = v.account
     WHERE $1::text IS NULL OR a.tenant_id = $1 ORDER BY 1, 2`,
    [tenantId ?? null],
  );
  for (const { tenant_id, account, balance, remaining, granted, posted } of rows) {
    const about = `grants of ${account}`;
    if (granted !== posted)
      differs({
        check: 'grants',
        tenantId: tenant_id,
        about,
        expected: `${posted} by the ledger`,
        found: `${granted} granted`,
      });
    if (remaining !== balance)
      differs({
        check: 'grants',
        tenantId: tenant_id,
        about,
        expected: `${balance} remaining, by the account`,
        found: remaining,
      });
  }
  await auditGrantTimes(client, { tenantId: tenantId ?? null, now, differs });
}

async function auditGrantTimes(
  client: ClientBase,
  { tenantId, now, differs }: { tenantId: string | null; now: number; differs: Audit['differs'] },
): Promise<void> {
  const late = await client.query<{ tenant_id: string; id: string; expires_at: Date; remaining: string }>(
    `SELECT g.tenant_id, g.id, g.expires_at, g.remaining FROM credit_grants g
     WHERE g.remaining > 0 AND g.expires_at < $2 AND ($1::text IS NULL OR g.tenant_id = $1) ORDER BY 1, 3`,
    [tenantId, new Date(now - EXPIRY_TOLERANCE_MS)],
  );
  for (const { tenant_id, id, expires_at, remaining } of late.rows)
    differs({
      check: 'grants',
      tenantId: tenant_id,
      about: `grant ${id}`,
      expected: `expired at ${expires_at.toISOString()}`,
      found: `${remaining} remaining`,
    });
  const next = await client.query<{ tenant_id: string; next: Date | null; first: Date | null }>(
    `SELECT a.tenant_id, a.next_expiry_at AS next, g.first FROM credit_accounts a
     LEFT JOIN (SELECT tenant_id, min(expires_at) AS first FROM credit_grants WHERE remaining > 0 GROUP BY 1) g
       ON g.tenant_id = a.tenant_id
     WHERE a.next_expiry_at IS DISTINCT FROM g.first AND ($1::text IS NULL OR a.tenant_id = $1) ORDER BY 1`,
    [tenantId],
  );
  for (const { tenant_id, next: found, first } of next.rows)
    differs({
      check: 'grants',
      tenantId: tenant_id,
      about: 'next expiry',
      expected: first?.toISOString() ?? 'none',
      found: found?.toISOString() ?? 'none',
    });
}
