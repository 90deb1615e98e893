/** The maximum length of a workflow's name (server/domains/workflows/schemas.ts). */
const MAX_LENGTH = 200;

/** Returns the name of a copy: “Orders” → “Orders copy” → “Orders copy 2”. */
export function copyName(name: string): string {
  const [, stem = name, , count] = /^(.*?) copy( (\d+))?$/s.exec(name) ?? [];
  const ending = stem === name ? ' copy' : ` copy ${Number(count ?? 1) + 1}`;
  return stem.slice(0, MAX_LENGTH - ending.length) + ending;
}
