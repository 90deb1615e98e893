import { type Clock, DAY_MS, isoTimestamp } from '../../platform/clock.ts';
import { invalid } from '../../platform/errors.ts';
import type { Queryable } from '../../platform/postgres/transaction.ts';
import { readSettings, spentSince } from './settings-store.ts';

/** Returns when the day began in UTC, and when the next one does, in ms since the epoch. */
export function dayOf(now: number): { from: number; to: number } {
  const from = now - (now % DAY_MS);
  return { from, to: from + DAY_MS };
}

/** Throws AppError 422 `ai_budget_exhausted` if the person's chats have cost today what the workspace allows. */
export async function requireBudget(
  { pool, clock }: { pool: Queryable; clock: Clock },
  person: { tenantId: string; userId: string },
): Promise<void> {
  const { daily_microcredits: allowed } = await readSettings(pool, person.tenantId);
  if (allowed === null) return;
  const { from, to } = dayOf(clock.now());
  if ((await spentSince(pool, person, new Date(from))) < allowed) return;
  const message = `Your chats have used the credits that this workspace allows a person for a day. This resets at ${isoTimestamp(to)}.`;
  throw invalid(message, undefined, 'ai_budget_exhausted');
}
