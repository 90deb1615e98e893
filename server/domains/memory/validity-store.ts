/**
 * The condition that an item, or a state of one, is believed and true at an instant. An item that was superseded is true until its
 * successor is: a supersession from next year on hides nothing today.
 */
export const isTrueAt = (alias: string, at: string): string =>
  `${hasBegunAt(alias, at)} AND (${alias}.valid_to > ${at} OR (${alias}.valid_to IS NULL AND ${alias}.status = 'active'))`;

/** The same, also for what was true until another item took its place. */
export const hasBegunAt = (alias: string, at: string): string =>
  `${alias}.status IN ('active', 'superseded') AND ${alias}.valid_from <= ${at}
   AND (${alias}.expires_at IS NULL OR ${alias}.expires_at > ${at})`;

/** The condition that another item has taken the place of this one. */
export const isOutdatedAt = (alias: string, at: string): string =>
  `${alias}.status = 'superseded' AND coalesce(${alias}.valid_to <= ${at}, true)`;

/** The condition that an item is believed, or may be once it is reviewed. */
export const mayBeTrueAt = (alias: string, at: string): string =>
  `(${alias}.status IN ('active', 'proposed') OR (${alias}.status = 'superseded' AND ${alias}.valid_to > ${at}))`;

/** The state in which an item was at an instant, to be joined LATERAL; no row where it was not known yet. */
export const stateAt = (item: string, at: string): string =>
  `(SELECT s.status, s.valid_from, s.valid_to, s.expires_at, s.fingerprint FROM memory_item_states s
    WHERE s.tenant_id = ${item}.tenant_id AND s.item_id = ${item}.id AND s.at <= ${at} ORDER BY s.at DESC LIMIT 1)`;
