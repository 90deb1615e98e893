import type { Command } from '@commander-js/extra-typings';
import { type AuditReport, auditLedger, type Difference } from '../../domains/billing/ledger/audit-store.ts';
import type { Run } from '../command-line.ts';
import type { BillingServices } from './services.ts';

/** Declares `billing audit`: recomputes every balance and reports differences. Exit code 1 if there are any. */
export function declareAudit(command: Command, run: Run<Pick<BillingServices, 'pool' | 'clock'>>): void {
  command
    .command('audit')
    .description('recompute every balance from the ledger, the usage and the event log; exit code 1 if they differ')
    .option('--tenant <slug>', 'one workspace')
    .option('--json', 'print one JSON document')
    .action(({ tenant, json }) =>
      run(
        async ({ pool, clock }) => {
          const only = tenant === undefined ? {} : { tenantId: tenant };
          const report = await auditLedger(pool, { now: clock.now(), ...only });
          return { value: report, text: describeAudit(report), code: report.differences.length === 0 ? 0 : 1 };
        },
        { json },
      ),
    );
}

/** The maximum number of differences that are shown one by one; `--json` has all. */
const MAX_SHOWN = 100;

/** The report for people. */
function describeAudit({ tenants, ledgerRows, runs, notes, differences }: AuditReport): string {
  const checked = `${count(tenants, 'workspace')}, ${count(ledgerRows, 'entry', 'entries')} of the ledger, ${count(runs.compared, 'run')} compared.`;
  if (differences.length === 0) return [checked, ...notes, 'The books balance.'].join('\n');
  const shown = differences.slice(0, MAX_SHOWN);
  const more = differences.length - shown.length;
  return [
    checked,
    ...notes,
    '',
    ...tableOf(shown),
    ...(more > 0 ? [`… and ${more} more (--json has them)`] : []),
    '',
    `${count(differences.length, 'difference')}: the books do not balance.`,
  ].join('\n');
}

function tableOf(differences: readonly Difference[]): string[] {
  const rows = [
    ['check', 'workspace', 'about', 'expected', 'found'],
    ...differences.map(({ check, tenantId, about, expected, found }) => [check, tenantId, about, expected, found]),
  ];
  const widths = [0, 1, 2, 3, 4].map(column => Math.max(...rows.map(row => row[column]?.length ?? 0)));
  return rows.map(row =>
    row
      .map((cell, column) => cell.padEnd(widths[column] ?? 0))
      .join('  ')
      .trimEnd(),
  );
}

const count = (number: number, one: string, many = `${one}s`) => `${number} ${number === 1 ? one : many}`;
