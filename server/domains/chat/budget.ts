import { AI_BUDGET_EXHAUSTED, type StepError } from '../../orchestrator/core/index.ts';
import { type Day, dayOf, type SpendingSource } from '../../orchestrator/ports/spending.ts';
import { type Clock, isoTimestamp } from '../../platform/clock.ts';
import { invalid } from '../../platform/errors.ts';
import type { Queryable } from '../../platform/postgres/transaction.ts';
import { readSettings, spentOn } from './settings-store.ts';

/**
 * Creates the engine's source for the daily limit of a person's chats and trials (docs/chat.md#limits). Each attempt of their runs reserves
 * its cost before it begins.
 */
export function createSpendingSource({ pool }: { pool: Queryable }): SpendingSource {
  return {
    async load(person, day) {
      const { daily_microcredits: limit } = await readSettings(pool, person.tenantId);
      return limit === null ? { limit, spent: 0 } : { limit, spent: await spentOn(pool, person, day) };
    },
    refusal,
  };
}

function refusal({ to }: Day): StepError {
  const message = `Your chats and trials have used the credits that this workspace allows a person for a day. This resets at ${isoTimestamp(to)}.`;
  return { code: AI_BUDGET_EXHAUSTED, message };
}

/**
 * Throws AppError 422 `ai_budget_exhausted` if the person has reached the daily limit of chats and trials. Callers check this before they
 * store a request.
 */
export async function requireBudget(
  { pool, clock }: { pool: Queryable; clock: Clock },
  person: { tenantId: string; userId: string },
): Promise<void> {
  const { daily_microcredits: allowed } = await readSettings(pool, person.tenantId);
  if (allowed === null) return;
  const day = dayOf(clock.now());
  if ((await spentOn(pool, person, day)) < allowed) return;
  const { code, message } = refusal(day);
  throw invalid(message, undefined, code);
}
