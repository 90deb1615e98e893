import type { z } from 'zod';
import type { Context } from '../../../operation/context.ts';
import { DAY_MS } from '../../../platform/clock.ts';
import { findItems } from '../items/store.ts';
import { itemOf } from '../items/view.ts';
import type { HealthOutput } from '../schemas.ts';
import { scopeOf } from '../scope.ts';
import { canUseTrigrams } from '../search/candidates-store.ts';
import { countMemories, findContradictions, findDuplicates, type ItemPair } from './store.ts';

/** The age from which an unused item is reported. */
const NEVER_USED_AFTER_MS = 30 * DAY_MS;
/** The maximum number of items that are searched for duplicates, because each is compared with all others of its subject. */
const MAX_COMPARED_ITEMS = 300;
/** The similarity from which two texts probably have the same meaning. */
const MIN_SIMILARITY = 0.6;
const MAX_PAIRS = 20;

/** GET /v1/memory/health: counts, likely duplicates and contradictions of the memories that the principal sees. */
export async function getHealth({ principal, services }: Context): Promise<z.input<typeof HealthOutput>> {
  const { pool, clock } = services;
  const scope = scopeOf(principal);
  const now = new Date(clock.now());
  const usedBy = new Date(clock.now() - NEVER_USED_AFTER_MS);
  const alike = { among: MAX_COMPARED_ITEMS, similarity: MIN_SIMILARITY, limit: MAX_PAIRS };
  const [{ never_used, episodes, ...items }, duplicates, contradictions] = await Promise.all([
    countMemories(pool, scope, { now, usedBy }),
    canUseTrigrams(pool).then(can => (can ? findDuplicates(pool, scope, alike) : [])),
    findContradictions(pool, scope, MAX_PAIRS),
  ]);
  const pairs = [...duplicates, ...contradictions];
  const found = await findItems(
    pool,
    scope,
    pairs.flatMap(({ first, second }) => [first, second]),
  );
  const byId = new Map(found.map(row => [row.id, itemOf(row)]));
  const toPairs = (each: readonly ItemPair[]) =>
    each.flatMap(({ first, second }) => {
      const both = [byId.get(first), byId.get(second)] as const;
      // One of the items was deleted meanwhile.
      return both[0] === undefined || both[1] === undefined ? [] : [{ first: both[0], second: both[1] }];
    });
  return { items, episodes, never_used, duplicates: toPairs(duplicates), contradictions: toPairs(contradictions) };
}
