import type { Cell, Column, Figures, Unit } from './figures.ts';

/** The heading names the smaller unit in which a column is exact. */
const headings: Record<Unit, string> = { count: '', credits: ' (microcredits)', duration: ' (ms)', share: '' };

/**
 * Writes CSV (RFC 4180). Microcredits and milliseconds stay whole numbers, and the heading names their unit. A text that a spreadsheet
 * would run as a formula gets an apostrophe in front.
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
