import type { Cell, Column, Figures, Unit } from './figures.ts';

/** Where a unit has a smaller one that is exact, the heading says which. */
const headings: Record<Unit, string> = { count: '', credits: ' (microcredits)', duration: ' (ms)', share: '' };

/**
 * RFC 4180, with the numbers as they are: microcredits and milliseconds in whole numbers, named in the heading. Words that
 * a spreadsheet would run as a formula are led by an apostrophe.
 */
export function toCsv({ columns, rows }: Figures): string {
  const lines = [columns.map(heading), ...rows];
  return lines.map(line => `${line.map(cell).join(',')}\r\n`).join('');
}

function heading({ label, unit }: Column): string {
  return unit ? `${label}${headings[unit]}` : label;
}

function cell(value: Cell): string {
  if (value === null) return '';
  if (typeof value === 'number') return String(value);
  const harmless = /^[=+\-@\t\r]/.test(value) ? `'${value}` : value;
  return /[",\r\n]/.test(harmless) ? `"${harmless.replaceAll('"', '""')}"` : harmless;
}
