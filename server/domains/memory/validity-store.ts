/**
 * Returns the condition that an item, or a state of it, is accepted and true at an instant. A superseded item is true until its
 * successor is: a supersession from next year on hides nothing today.
 */
export const isTrueAt = (alias: string, at: string): string =>
  `${hasBegunAt(alias, at)} AND (${alias}.valid_to > ${at} OR (${alias}.valid_to IS NULL AND ${alias}.status = 'active'))`;

/** Returns the same condition, which also includes items that were true until another item replaced them. */
export const hasBegunAt = (alias: string, at: string): string =>
  `${alias}.status IN ('active', 'superseded') AND ${alias}.valid_from <= ${at}
   AND (${alias}.expires_at IS NULL OR ${alias}.expires_at > ${at})`;

/** Returns the condition that another item has replaced this one. */
export const isOutdatedAt = (alias: string, at: string): string =>
  `${alias}.status = 'superseded' AND coalesce(${alias}.valid_to <= ${at}, true)`;

/** Returns the condition that an item is accepted, or may be after a review. */
export const mayBeTrueAt = (alias: string, at: string): string =>
  `(${alias}.status IN ('active', 'proposed') OR (${alias}.status = 'superseded' AND ${alias}.valid_to > ${at}))`;

/** Returns SQL for the state of an item at an instant, to be joined LATERAL; without a row if the item was not known yet. */
export const stateAt = (item: string, at: string): string =>
  `(SELECT s.status, s.valid_from, s.valid_to, s.expires_at, s.fingerprint FROM memory_item_states s
    WHERE s.tenant_id = ${item}.tenant_id AND s.item_id = ${item}.id AND s.at <= ${at} ORDER BY s.at DESC LIMIT 1)`;
