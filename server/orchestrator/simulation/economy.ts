import { type ActionPrices, perAction } from '../ports/billable-actions.ts';
import type { CreditSource, TenantCredits } from '../ports/credits.ts';
import type { Database } from './database.ts';
import type { Random } from './random.ts';
import { answerOf } from './reader.ts';
import { TENANTS } from './scenario.ts';
import type { Server } from './server.ts';
import type { Surroundings } from './surroundings.ts';

/** The prices of one simulation, and the setting for workspaces that cannot pay; constant for its duration. */
export type Economy = {
  readonly prices: ActionPrices;
  readonly enforced: boolean;
  readonly policies: ReadonlyMap<string, TenantCredits['whenExhausted']>;
  /** The initial credits of each workspace. */
  readonly funds: ReadonlyMap<string, number>;
};

/**
 * Returns a random economy. In half of all simulations no workspace runs out of credits, so that other behavior is
 * tested without that disturbance.
 */
export function randomEconomy(random: Random): Economy {
  const scarce = random.chance(0.5);
  const prices = perAction(action => {
    if (action === 'workflow_step') return random.below(4);
    if (action === 'tool_call') return random.below(3);
    if (action === 'llm_input_tokens') return random.chance(0.5) ? 0 : 1 + random.below(2);
    return random.below(2);
  });
  return {
    prices,
    enforced: random.chance(0.9),
    policies: new Map(TENANTS.map(tenant => [tenant, random.chance(0.5) ? 'pause' : 'fail'])),
    funds: new Map(TENANTS.map(tenant => [tenant, scarce ? random.below(60) : 1_000_000])),
  };
}

/**
 * Reads the simulated accounts like the ledger's source reads the real ones; sometimes it is
 * slow, and sometimes it fails.
 */
export function simulatedCredits(database: Database, server: Server, at: Surroundings): CreditSource {
  const read = (tenantId: string): TenantCredits => {
    const { balance, consumed, allowance } = database.account(tenantId);
    const { prices, enforced, policies } = at.economy;
    database.noteRead(tenantId, at.agenda.now);
    return { prices, enforced, balance, consumed, allowance, whenExhausted: policies.get(tenantId) ?? 'fail' };
  };
  return {
    load: tenantId =>
      answerOf(
        server,
        at,
        'credits not readable',
        () => {
          database.open(tenantId, at.economy.funds.get(tenantId) ?? 0);
          return read(tenantId);
        },
        0.12,
      ),
    refresh: tenantIds => {
      at.count('credits read again');
      return answerOf(server, at, 'credits not readable', () => new Map(tenantIds.map(id => [id, read(id)])));
    },
    thresholdCrossed: (_, percent) => at.count(`${percent} % of the credits used`),
  };
}
