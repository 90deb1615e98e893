import type pg from 'pg';
import { type AuditReport, auditLedger } from '../../domains/billing/ledger/audit-store.ts';
import { inOwnSession } from '../../platform/postgres/own-session.ts';
import { readOldLogs } from '../../platform/postgres/readable-json.ts';
import { reason, StartupError } from '../../platform/postgres/startup-error.ts';
import { createCommandPool } from '../open-database.ts';

/** The numbers that tell people whether this is the backup that they expect. */
export type Contents = {
  workspaces: number;
  accounts: number;
  workflows: number;
  runs: number;
  activeRuns: number;
  pendingTasks: number;
  secrets: number;
};

export type Examined = { contents: Contents; audit: AuditReport };

/**
 * Counts what a restored database holds, and audits its balances as of the instant of its backup: what expired since then is the work of
 * the next start. Statistics are gathered first, because a new database has none, and every plan would be a guess.
 */
export async function examine(url: string, at: number): Promise<Examined> {
  await inOwnSession(url, { name: 'baton-restore' }, client => client.query('ANALYZE'));
  // The service's own pool would give up a statement after 9 s.
  const pool = readOldLogs(createCommandPool(url, { max: 2, application_name: 'baton-restore' }));
  try {
    return { contents: await countContents(pool), audit: await auditLedger(pool, { now: at }) };
  } finally {
    await pool.end();
  }
}

/** Examines a database that was loaded for good. Throws StartupError that says so, if that fails. */
export async function examineLoaded(url: string, at: number): Promise<Examined> {
  return examine(url, at).catch(cause => {
    throw new StartupError(
      `Everything was loaded, but the balances could not be audited (${reason(cause)}): run npm run baton -- billing audit.`,
      { cause },
    );
  });
}

async function countContents(pool: pg.Pool): Promise<Contents> {
  const { rows } = await pool.query<Record<keyof Contents, string>>(
    `SELECT (SELECT count(*) FROM tenants) AS workspaces, (SELECT count(*) FROM users) AS accounts,
            (SELECT count(*) FROM workflows) AS workflows, (SELECT count(*) FROM runs) AS runs,
            (SELECT count(*) FROM runs WHERE ended_at IS NULL) AS "activeRuns",
            (SELECT count(*) FROM human_tasks WHERE state = 'pending') AS "pendingTasks",
            (SELECT count(*) FROM secrets) AS secrets`,
  );
  const counted = rows[0] ?? {};
  return Object.fromEntries(Object.entries(counted).map(([name, count]) => [name, Number(count)])) as Contents;
}

export const amount = (count: number, one: string, many = `${one}s`): string =>
  `${count.toLocaleString('en')} ${count === 1 ? one : many}`;

export function describeContents(contents: Contents): string {
  return [
    amount(contents.workspaces, 'workspace'),
    amount(contents.accounts, 'account'),
    amount(contents.workflows, 'workflow'),
    `${amount(contents.runs, 'run')} (${contents.activeRuns.toLocaleString('en')} active)`,
    amount(contents.pendingTasks, 'pending task'),
    amount(contents.secrets, 'secret'),
  ].join(', ');
}

/** Returns the lines about the audit. */
export function describeAudit({ tenants, ledgerRows, runs, notes, differences }: AuditReport): string[] {
  const compared = `${amount(tenants, 'workspace')}, ${amount(ledgerRows, 'entry', 'entries')} of the ledger, ${amount(runs.compared, 'run')} compared`;
  if (differences.length === 0) return [`The audit of balances is clean: ${compared}.`, ...notes];
  return [
    `The audit of balances found ${amount(differences.length, 'difference')} (${compared}), which the backup holds: npm run baton -- billing audit shows them.`,
    ...notes,
  ];
}
