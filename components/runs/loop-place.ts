/** Returns the item and the step of a loop that the id of a selected step names; null if the step is not in the loop. */
export function placeIn(loop: string, selected: string | null): { index: number; name: string | null } | null {
  if (selected === null || !selected.startsWith(`${loop}.`)) return null;
  const [number = '', name] = selected.slice(loop.length + 1).split('.');
  return /^\d{1,9}$/.test(number) ? { index: Number(number), name: name ?? null } : null;
}

/** Returns the previous and the next failed item, or null for each. `failed` is in ascending order. */
export function failedNear(failed: readonly number[], index: number): { before: number | null; after: number | null } {
  return {
    before: failed.findLast(each => each < index) ?? null,
    after: failed.find(each => each > index) ?? null,
  };
}

/** Returns the numbers of the items that the id of a selected step names, by the loops: `each.3.inner.0.x` is in item 3 of `each`. */
export function itemsNamed(selected: string): Map<string, number> {
  const parts = selected.split('.');
  const items = new Map<string, number>();
  for (let at = 1; at < parts.length && /^\d{1,9}$/.test(parts[at] ?? ''); at += 2)
    items.set(parts.slice(0, at).join('.'), Number(parts[at]));
  return items;
}

/** Returns the node of a step in the graph. A step of a loop has the same node for all items. */
export const nodeOfStep = (id: string): string =>
  itemsNamed(id).size === 0
    ? id
    : id
        .split('.')
        .filter((_, at) => at % 2 === 0)
        .join('.');

/** Returns the id of the step that a node shows. `items`: the index of the shown item, by loop. */
export function stepOfNode(node: string, items: ReadonlyMap<string, number>): string {
  return node.split('.').reduce((around, name) => `${around}.${items.get(around) ?? 0}.${name}`);
}
