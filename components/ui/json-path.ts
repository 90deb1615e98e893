import type { Json } from '@/server/platform/json.ts';

const isName = (key: string) => /^[A-Za-z_][A-Za-z0-9_]*$/.test(key);

/** Returns the path of a member as templates, scripts and expressions write it: `steps.a.result.items[0].total`. */
export function memberPath(parent: string, key: string | number): string {
  if (typeof key === 'number') return `${parent}[${key}]`;
  if (!isName(key)) return `${parent}[${JSON.stringify(key)}]`;
  return parent === '' ? key : `${parent}.${key}`;
}

/**
 * Returns the path of what a step gave, as other steps read it. The steps of a loop are added to a run as `each.3.fetch`, and read as
 * `fetch`.
 */
export function stepPath(id: string, part: 'result' | 'error'): string {
  return memberPath(memberPath('steps', id.split('.').at(-1) ?? id), part);
}

export type Match = { path: string; value: Json };

/** Values searched before the search gives up, so that a key stroke in a value of 1 MiB stays quick. */
const MAX_SEARCHED = 200_000;

/** Returns up to `limit` members whose name or whose text contains `text`, in any case, in the order of the document. */
export function searchJson(value: Json, root: string, text: string, limit: number): Match[] {
  const wanted = text.toLowerCase();
  const found: Match[] = [];
  let searched = 0;
  const visit = (item: Json, path: string, name: string): void => {
    searched += 1;
    if (found.length >= limit || searched > MAX_SEARCHED) return;
    const isLeaf = item === null || typeof item !== 'object';
    const matches = name.toLowerCase().includes(wanted) || (isLeaf && String(item).toLowerCase().includes(wanted));
    if (matches) found.push({ path, value: item });
    if (Array.isArray(item)) for (const [index, each] of item.entries()) visit(each, memberPath(path, index), '');
    else if (!isLeaf) for (const [key, each] of Object.entries(item)) visit(each, memberPath(path, key), key);
  };
  visit(value, root, root);
  return found;
}
