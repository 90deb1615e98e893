import { isDeepStrictEqual } from 'node:util';
import type { z } from 'zod';
import type { McpTool } from '../../../platform/mcp-client/index.ts';
import { checksum } from '../../workflows/checksum.ts';
import type { CatalogDiff } from '../schemas.ts';

export type Diff = z.output<typeof CatalogDiff>;

const fields = [
  ['title', 'title'],
  ['description', 'description'],
  ['inputSchema', 'input_schema'],
  ['outputSchema', 'output_schema'],
  ['annotations', 'annotations'],
] as const satisfies readonly (readonly [keyof McpTool, string])[];

/** Returns the tools that `next` adds, removes and changes; null: there was no previous version. */
export function diffCatalogs(
  previous: { version: number; tools: readonly McpTool[] } | null,
  next: readonly McpTool[],
): Diff {
  const before = new Map(previous?.tools.map(tool => [tool.name, tool]));
  const after = new Set(next.map(tool => tool.name));
  const diff: Diff = { previous_version: previous?.version ?? null, added: [], removed: [], changed: [] };
  for (const tool of next) {
    const old = before.get(tool.name);
    if (old === undefined) {
      diff.added.push(tool.name);
      continue;
    }
    const different = fields.flatMap(([key, name]) => (isDeepStrictEqual(old[key], tool[key]) ? [] : [name]));
    if (different.length > 0) diff.changed.push({ name: tool.name, fields: different });
  }
  diff.removed = [...before.keys()].filter(name => !after.has(name));
  return diff;
}

/**
 * Returns the SHA-256 of the tools, independent of the order of their keys. The server's description
 * of itself is not included.
 */
export function catalogChecksum(tools: readonly McpTool[]): string {
  return checksum(tools);
}

/** Describes a difference: "2 added, 1 removed, 3 changed", or "nothing". */
export function describeDiff({ added, removed, changed }: Diff): string {
  const parts = [
    [added.length, 'added'],
    [removed.length, 'removed'],
    [changed.length, 'changed'],
  ] as const;
  const phrases = parts.flatMap(([count, what]) => (count > 0 ? [`${count} ${what}`] : []));
  return phrases.length > 0 ? phrases.join(', ') : 'nothing';
}
