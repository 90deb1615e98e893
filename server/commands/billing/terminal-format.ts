import { CREDIT } from '../../orchestrator/ports/microcredits.ts';

/** Returns the lines of a table whose columns are as wide as their widest cell. */
export function table(rows: readonly (readonly string[])[]): string {
  const widths = (rows[0] ?? []).map((_, column) => Math.max(...rows.map(row => row[column]?.length ?? 0)));
  return rows
    .map(row =>
      row
        .map((cell, column) => cell.padEnd(widths[column] ?? 0))
        .join('  ')
        .trimEnd(),
    )
    .join('\n');
}

/** Formats microcredits as credits. */
export const credits = (microcredits: number): string =>
  (microcredits / CREDIT).toLocaleString('en', { maximumFractionDigits: 6 });
