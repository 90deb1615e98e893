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
