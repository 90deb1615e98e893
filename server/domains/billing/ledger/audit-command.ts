import { parseArgs } from 'node:util';
import type { Services } from '../../../contract/services.ts';
import { type AuditReport, auditLedger, type Difference } from './audit.ts';

/** A line of the operator's command; `code` is the process's: 0 nothing differs, 1 something does. */
export type CommandOutcome = { code: 0 | 1; text: string };

export const auditUsage = 'npm run billing -- audit [--tenant <slug>] [--json]';

/** `npm run billing -- audit`: derives every balance anew and says where they differ. Throws TypeError for unknown arguments. */
export async function auditCommand(
  { pool, clock }: Pick<Services, 'pool' | 'clock'>,
  args: readonly string[],
): Promise<CommandOutcome> {
  const { values } = parseArgs({
    args: [...args],
    options: { tenant: { type: 'string' }, json: { type: 'boolean', default: false } },
    strict: true,
  });
  const report = await auditLedger(pool, {
    now: clock.now(),
    ...(values.tenant === undefined ? {} : { tenantId: values.tenant }),
  });
  const text = values.json ? JSON.stringify(report, null, 2) : describeAudit(report);
  return { code: report.differences.length === 0 ? 0 : 1, text };
}

/** Differences that are shown one by one; `--json` has all. */
const MOST_SHOWN = 100;

/** The report for people. */
export function describeAudit({ tenants, ledgerRows, runs, notes, differences }: AuditReport): string {
  const checked = `${count(tenants, 'workspace')}, ${count(ledgerRows, 'entry', 'entries')} of the ledger, ${count(runs.compared, 'run')} compared.`;
  if (differences.length === 0) return [checked, ...notes, 'The books balance.'].join('\n');
  const shown = differences.slice(0, MOST_SHOWN);
  const more = differences.length - shown.length;
  return [
    checked,
    ...notes,
    '',
    ...table(shown),
    ...(more > 0 ? [`… and ${more} more (--json has them)`] : []),
    '',
    `${count(differences.length, 'difference')}: the books do not balance.`,
  ].join('\n');
}

function table(differences: readonly Difference[]): string[] {
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
