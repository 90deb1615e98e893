import { badRequest } from '../platform/errors.ts';

export type Route<T> = { method: string; path: string; value: T };
export type Match<T> =
  | { kind: 'found'; value: T; parameters: readonly string[] }
  /** The path is known, but not the method. `allow` is sorted. */
  | { kind: 'method'; allow: readonly string[] }
  | { kind: 'none' };
export type Router<T> = { match(method: string, pathname: string): Match<T> };

type Node<T> = { literals: Map<string, Node<T>>; parameter: Node<T> | null; values: Map<string, T> };

const node = <T>(): Node<T> => ({ literals: new Map(), parameter: null, values: new Map() });

/**
 * Creates a router over path segments. Literal segments take precedence over parameters, with backtracking if the
 * literal leads nowhere. A literal path has only its own methods: `import` is not an `{id}`. Segments are
 * percent-decoded exactly once and after the split, so `%2F` in a parameter never changes the route; a malformed escape
 * is AppError 400. A path with a trailing slash is unknown (404), because every route has only one spelling.
 */
export function createRouter<T>(routes: readonly Route<T>[]): Router<T> {
  const root = node<T>();
  for (const { method, path, value } of routes) {
    let at = root;
    for (const segment of path.slice(1).split('/')) at = child(at, segment);
    at.values.set(method, value);
  }
  return {
    match(method, pathname) {
      const found = find(root, pathname.slice(1).split('/').map(decode), 0);
      if (!found) return { kind: 'none' };
      const value = found.values.get(method);
      if (value === undefined) return { kind: 'method', allow: [...found.values.keys()].sort() };
      return { kind: 'found', value, parameters: found.parameters };
    },
  };
}

function child<T>(parent: Node<T>, segment: string): Node<T> {
  if (segment.startsWith('{')) {
    parent.parameter ??= node<T>();
    return parent.parameter;
  }
  const existing = parent.literals.get(segment);
  if (existing) return existing;
  const created = node<T>();
  parent.literals.set(segment, created);
  return created;
}

function find<T>(
  at: Node<T>,
  segments: readonly string[],
  index: number,
): { values: ReadonlyMap<string, T>; parameters: string[] } | null {
  const segment = segments[index];
  if (segment === undefined) return at.values.size > 0 ? { values: at.values, parameters: [] } : null;
  const literal = at.literals.get(segment);
  const found = literal ? find(literal, segments, index + 1) : null;
  if (found || !at.parameter || segment === '') return found;
  const below = find(at.parameter, segments, index + 1);
  below?.parameters.unshift(segment);
  return below;
}

function decode(segment: string): string {
  if (!segment.includes('%')) return segment;
  try {
    return decodeURIComponent(segment);
  } catch {
    throw badRequest('The path contains a malformed percent escape.', 'malformed_path');
  }
}
