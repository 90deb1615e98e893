import type { Json } from '@/server/platform/json.ts';

const isName = (key: string) => /^[A-Za-z_][A-Za-z0-9_]*$/.test(key);

/** Returns the path of a member in the syntax of templates, scripts and expressions: `steps.a.result.items[0].total`. */
export function memberPath(parent: string, key: string | number): string {
  if (typeof key === 'number') return `${parent}[${key}]`;
  if (!isName(key)) return `${parent}[${JSON.stringify(key)}]`;
  return parent === '' ? key : `${parent}.${key}`;
}

/**
 * Returns the path of a step's result or error, as other steps refer to it. Steps of a loop have ids such as `each.3.fetch` in a run, but
 * their path uses `fetch`.
 */
export function stepPath(id: string, part: 'result' | 'error'): string {
  return memberPath(memberPath('steps', id.split('.').at(-1) ?? id), part);
}

export type Match = { path: string; value: Json };

/** The maximum number of values that a search visits, so that each keystroke stays fast in a value of 1 MiB. */
const MAX_SEARCHED = 200_000;

/** Returns up to `limit` members whose name or text contains `text`, ignoring case, in the order of the document. */
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
