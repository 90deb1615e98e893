import { z } from 'zod';
import type { Context } from '../../../operation/context.ts';
import { cutPage, decodeCursor } from '../../../operation/cursor.ts';
import { Id } from '../../../operation/wire.ts';
import { toMicrocredits } from '../../../orchestrator/ports/microcredits.ts';
import { isoTimestamp } from '../../../platform/clock.ts';
import { transact } from '../../../platform/postgres/transaction.ts';
import { total } from '../ledger/books.ts';
import { postCharges, readBalances } from '../ledger/post.ts';
import type { Balances, LedgerEntry, ListLedgerInput, ListLedgerOutput } from '../schemas.ts';
import { processDueBilling } from '../subscriptions/process-due.ts';
import { type EntryRow, listEntries } from './store.ts';

/** GET /v1/billing/usage: the remaining credits (docs/specification/billing.md#credits). */
export async function getBalances({ principal, services }: Context): Promise<z.input<typeof Balances>> {
  await processDueBilling(services, principal.tenantId);
  const balances = await readBalances(services.pool, principal.tenantId);
  return {
    trial_remaining: balances.trial,
    included_remaining: balances.included,
    payg_remaining: balances.payg,
    total_remaining_microcredits: total(balances),
  };
}

const LedgerCursor = z.tuple([Id]);

/** GET /v1/billing/ledger: all ledger entries, newest first. Posts charges up to now first. */
export async function listLedger(
  { principal, services }: Context,
  { limit, cursor, kind, from, to }: z.output<typeof ListLedgerInput>,
): Promise<z.input<typeof ListLedgerOutput>> {
  await processDueBilling(services, principal.tenantId);
  const listsCharges = kind === undefined || kind === 'charge';
  if (listsCharges && cursor === undefined)
    await transact(services.pool, db => postCharges(db, principal.tenantId, services.clock.now()));
  const rows = await listEntries(services.pool, principal.tenantId, {
    after: decodeCursor(LedgerCursor, cursor)?.[0] ?? null,
    from,
    to,
    kind,
    take: limit + 1,
  });
  const page = cutPage(rows, limit, row => [row.id]);
  return { entries: page.rows.map(toEntry), next_cursor: page.next_cursor };
}

const toEntry = (row: EntryRow): z.input<typeof LedgerEntry> => ({
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
