import { z } from 'zod';
import type { Context } from '../../../contract/context.ts';
import { cutPage, decodeCursor } from '../../../contract/cursor.ts';
import { toMicrocredits } from '../../../contract/microcredits.ts';
import { Id } from '../../../contract/wire.ts';
import { isoTimestamp } from '../../../platform/clock.ts';
import { transact } from '../../../platform/postgres/transaction.ts';
import type { Balances, LedgerEntry, ListLedgerInput, ListLedgerOutput } from '../schemas.ts';
import { settleTenant } from '../subscriptions/settle.ts';
import { type Account, accounts, total } from './books.ts';
import { postCharges, readBalances } from './post.ts';

/** GET /v1/billing/usage: what is left (interface.md, Billing usage). */
export async function getBalances({ principal, services }: Context): Promise<z.input<typeof Balances>> {
  await settleTenant(services, principal.tenantId);
  const balances = await readBalances(services.pool, principal.tenantId);
  return {
    trial_remaining: balances.trial,
    included_remaining: balances.included,
    payg_remaining: balances.payg,
    total_remaining_microcredits: total(balances),
  };
}

const LedgerCursor = z.tuple([Id]);

type Row = Record<Account, string> & {
  id: string;
  kind: z.output<typeof LedgerEntry>['kind'];
  note: string;
  created_at: Date;
};

/** GET /v1/billing/ledger: every movement of credits, newest first; what was charged until now is posted for it. */
export async function listLedger(
  { principal, services }: Context,
  { limit, cursor, kind, from, to }: z.output<typeof ListLedgerInput>,
): Promise<z.input<typeof ListLedgerOutput>> {
  await settleTenant(services, principal.tenantId);
  const mayCharge = kind === undefined || kind === 'charge';
  if (mayCharge && cursor === undefined)
    await transact(services.pool, db => postCharges(db, principal.tenantId, services.clock.now()));
  const values: unknown[] = [principal.tenantId];
  const parameter = (value: unknown) => `$${values.push(value)}`;
  const where = ['tenant_id = $1'];
  const after = decodeCursor(LedgerCursor, cursor)?.[0] ?? null;
  if (after !== null) where.push(`id < ${parameter(after)}`);
  if (from !== undefined) where.push(`created_at >= ${parameter(new Date(from))}`);
  if (to !== undefined) where.push(`created_at < ${parameter(new Date(to))}`);
  if (kind !== undefined) where.push(`kind = ${parameter(kind)}`);
  // Whatever is no charge has a reference, and an index that the charges, one an hour, are not in.
  if (!mayCharge) where.push('reference IS NOT NULL');
  const { rows } = await services.pool.query<Row>(
    `SELECT id, kind, ${accounts.join(', ')}, note, created_at FROM credit_entries WHERE ${where.join(' AND ')}
     ORDER BY id DESC LIMIT ${parameter(limit + 1)}`,
    values,
  );
  const page = cutPage(rows, limit, row => [row.id]);
  return { entries: page.rows.map(toEntry), next_cursor: page.next_cursor };
}

const toEntry = (row: Row): z.input<typeof LedgerEntry> => ({
  id: row.id,
  kind: row.kind,
  trial: toMicrocredits(row.trial),
  included: toMicrocredits(row.included),
  payg: toMicrocredits(row.payg),
  consumed: toMicrocredits(row.consumed),
  expired: toMicrocredits(row.expired),
  granted: toMicrocredits(row.granted),
  note: row.note,
  created_at: isoTimestamp(row.created_at.getTime()),
});
