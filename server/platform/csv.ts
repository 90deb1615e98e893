import { stringify } from 'csv-stringify/sync';
import { AppError } from './errors.ts';

/** The maximum number of rows of one export: about 25 MB, which are held in memory. */
const MAX_CSV_ROWS = 100_000;

/**
 * A column: its heading, and its value in a row. Numbers are written unchanged; text that begins a formula is escaped.
 */
export type CsvColumn<Row> = readonly [heading: string, cell: (row: Row) => string | number | null];

/**
 * Returns rows as CSV (RFC 4180: CRLF, quotes where needed), the headings first. A text that begins with = + - @ or a tab gets an
 * apostrophe before it, because a spreadsheet would run it. Writes page by page, so that the event loop is free in between.
 * Throws AppError 422 beyond `most` rows.
 */
export async function writeCsv<Row>(
  columns: readonly CsvColumn<Row>[],
  pages: AsyncIterable<readonly Row[]>,
  most = MAX_CSV_ROWS,
): Promise<string> {
  const parts = [format([columns.map(([heading]) => heading)])];
  let count = 0;
  for await (const rows of pages) {
    count += rows.length;
    if (count > most) throw tooManyRows(most);
    parts.push(format(rows.map(row => columns.map(([, cell]) => cell(row)))));
  }
  return parts.join('');
}

const tooManyRows = (most: number) =>
  new AppError(422, 'too_many_rows', `An export has at most ${most} rows: ask for a shorter period.`, {
    details: [{ path: 'from', message: `selects more than ${most} rows` }],
  });

const format = (rows: readonly (readonly (string | number | null)[])[]): string =>
  stringify(
    rows.map(row => [...row]),
    { escape_formulas: true, record_delimiter: 'windows' },
  );
