/** A row as PostgreSQL returns it, where a column differs from the field: a bigint is text, a time is a Date. */
export type Stored<Row, Columns> = Omit<Row, keyof Columns> & Columns;

/**
 * Returns rows with the names of fields: `created_at` becomes `createdAt`. `Row` says what the statement returns, like the
 * type of a query. Rows of one result have the same columns, so their names are translated once.
 */
export function camelCased<Row extends object>(rows: readonly Record<string, unknown>[]): Row[] {
  const fields = Object.keys(rows[0] ?? {}).map(column => [column, toField(column)] as const);
  return rows.map(row => {
    const named: Record<string, unknown> = {};
    for (const [column, field] of fields) named[field] = row[column];
    return named as Row;
  });
}

const toField = (column: string) => column.replace(/_(.)/g, (_, letter: string) => letter.toUpperCase());
