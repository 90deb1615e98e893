import type { z } from 'zod';
import type { Queryable } from '../../../platform/postgres/transaction.ts';
import { type Account, accounts } from '../ledger/books.ts';
import type { LedgerEntry } from '../schemas.ts';

type Kind = z.output<typeof LedgerEntry>['kind'];

export type EntryRow = Record<Account, string> & { id: string; kind: Kind; note: string; created_at: Date };

export type EntryFilter = {
  after: string | null;
  from: string | undefined;
  to: string | undefined;
  kind: Kind | undefined;
  take: number;
};

/** Entries of a workspace's ledger, newest first. */
export async function listEntries(
  db: Queryable,
  tenantId: string,
  { after, from, to, kind, take }: EntryFilter,
): Promise<EntryRow[]> {
  const values: unknown[] = [tenantId];
  const parameter = (value: unknown) => `$${values.push(value)}`;
  const where = ['tenant_id = $1'];
  if (after !== null) where.push(`id < ${parameter(after)}`);
  if (from !== undefined) where.push(`created_at >= ${parameter(new Date(from))}`);
  if (to !== undefined) where.push(`created_at < ${parameter(new Date(to))}`);
  if (kind !== undefined) where.push(`kind = ${parameter(kind)}`);
  // All entries except charges have a reference, and an index that excludes the hourly charges.
  if (kind !== undefined && kind !== 'charge') where.push('reference IS NOT NULL');
  const { rows } = await db.query<EntryRow>(
    `SELECT id, kind, ${accounts.join(', ')}, note, created_at FROM credit_entries WHERE ${where.join(' AND ')}
     ORDER BY id DESC LIMIT ${parameter(take)}`,
    values,
  );
  return rows;
}
