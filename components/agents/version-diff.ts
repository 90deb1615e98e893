import type { Outputs } from '../trpc/provider.tsx';

export type AgentVersion = Outputs['agents_list_versions']['versions'][number];
export type Line = { kind: 'same' | 'added' | 'removed'; text: string };
export type FieldDiff = { field: string; lines: Line[] };

/** The maximum number of lines of a compared text. The time is proportional to the product of both lengths. */
const MAX_COMPARED_LINES = 1_000;

/** Returns the changed settings between two versions as lines of text. */
export function diffSettings(before: AgentVersion['settings'] | null, after: AgentVersion['settings']): FieldDiff[] {
  const old: Record<string, unknown> = before ?? {};
  const now: Record<string, unknown> = after;
  const fields = [...new Set([...Object.keys(now), ...Object.keys(old)])];
  return fields.flatMap(field => {
    const [was, is] = [textOf(old[field]), textOf(now[field])];
    return was === is ? [] : [{ field, lines: diffLines(was, is) }];
  });
}

function textOf(value: unknown): string {
  if (value === undefined || value === null) return '';
  return typeof value === 'string' ? value : JSON.stringify(value, null, 2);
}

/** Returns the lines of two texts with the longest common subsequence. */
export function diffLines(before: string, after: string): Line[] {
  const a = before === '' ? [] : before.split('\n');
  const b = after === '' ? [] : after.split('\n');
  const all = (kind: Line['kind'], lines: readonly string[]): Line[] => lines.map(text => ({ kind, text }));
  if (a.length > MAX_COMPARED_LINES || b.length > MAX_COMPARED_LINES) return [...all('removed', a), ...all('added', b)];
  const common = commonLengths(a, b);
  const lines: Line[] = [];
  let [i, j] = [0, 0];
  while (i < a.length && j < b.length) {
    if (a[i] === b[j]) {
      lines.push({ kind: 'same', text: a[i] ?? '' });
      i += 1;
      j += 1;
    } else if (at(common, i + 1, j) >= at(common, i, j + 1)) {
      lines.push({ kind: 'removed', text: a[i] ?? '' });
      i += 1;
    } else {
      lines.push({ kind: 'added', text: b[j] ?? '' });
      j += 1;
    }
  }
  return [...lines, ...all('removed', a.slice(i)), ...all('added', b.slice(j))];
}

const at = (table: readonly Uint16Array[], i: number, j: number): number => table[i]?.[j] ?? 0;

/** Returns the length of the longest common subsequence of the remaining lines, for each pair of positions. */
function commonLengths(a: readonly string[], b: readonly string[]): Uint16Array[] {
  const table = Array.from({ length: a.length + 1 }, () => new Uint16Array(b.length + 1));
  for (let i = a.length - 1; i >= 0; i -= 1) {
    const row = table[i];
    if (row === undefined) continue;
    for (let j = b.length - 1; j >= 0; j -= 1)
      row[j] = a[i] === b[j] ? at(table, i + 1, j + 1) + 1 : Math.max(at(table, i + 1, j), at(table, i, j + 1));
  }
  return table;
}
