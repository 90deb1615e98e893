import { isObject } from '@/server/platform/json.ts';
import type { Json } from '../../../server/domains/workflows/edits/index.ts';
import { type CompletionData, exampleAt } from '../code/example-values.ts';
import type { KnownValues } from '../code/use-completion.tsx';
import type { ValuePath } from './value-path.ts';

/** A value that can be inserted. */
export type ValueNode = {
  path: ValuePath;
  /** A unique id of the node, for keys and element ids. */
  id: string;
  label: string;
  /** Shown beside the label, such as the id of a step that has a name. */
  detail: string | undefined;
  kind: 'text' | 'number' | 'yes or no' | 'list' | 'object' | 'any';
  /** The value in the last run as text; undefined if unknown. */
  sample: string | undefined;
  children: readonly ValueNode[];
};

const MAX_DEPTH = 6;
const MAX_CHILDREN = 100;
const MAX_SAMPLE = 60;
const MAX_FOUND = 50;

/** Returns the values that a field can read as a tree: the item of a loop, the input, and the results of earlier steps, nearest first. */
export function valueTree({ known, samples }: KnownValues): ValueNode[] {
  const rootNode = (path: ValuePath, label: string, detail?: string): ValueNode =>
    nodeOf({ path, label, detail, value: exampleAt(path.map(String), known), samples, depth: 0 });
  return [
    ...(known.loop === null
      ? []
      : [rootNode(['item'], 'Item of the loop'), { ...rootNode(['index'], 'Its number'), kind: 'number' as const }]),
    rootNode(['input'], 'Input'),
    ...known.steps.map(({ id, name }) => rootNode(['steps', id, 'result'], name, name === id ? undefined : id)),
  ];
}

type Made = {
  path: ValuePath;
  label: string;
  detail?: string | undefined;
  value: Json;
  samples: CompletionData;
  depth: number;
};

function nodeOf({ path, label, detail, value, samples, depth }: Made): ValueNode {
  const child = (key: string | number, each: Json): ValueNode =>
    nodeOf({
      path: [...path, key],
      label: String(typeof key === 'number' ? `[${key}]` : key),
      value: each,
      samples,
      depth: depth + 1,
    });
  const [first] = Array.isArray(value) ? value : [];
  const entries: [string | number, Json][] = isObject(value)
    ? Object.entries(value).map(([key, each]) => [key, each as Json])
    : first === undefined
      ? []
      : [[0, first]];
  return {
    path,
    id: JSON.stringify(path),
    label,
    detail,
    kind: kindOf(value),
    sample: sampleText(exampleAt(path.map(String), samples)),
    children: depth >= MAX_DEPTH ? [] : entries.slice(0, MAX_CHILDREN).map(([key, each]) => child(key, each)),
  };
}

function kindOf(value: Json): ValueNode['kind'] {
  if (value === null) return 'any';
  if (Array.isArray(value)) return 'list';
  if (typeof value === 'object') return 'object';
  if (typeof value === 'boolean') return 'yes or no';
  return typeof value === 'string' ? 'text' : 'number';
}

/** Returns a value on one line; undefined for null, which is treated as unknown. */
export function sampleText(value: Json): string | undefined {
  if (value === null) return undefined;
  const text = typeof value === 'string' ? value : JSON.stringify(value);
  const line = text.slice(0, MAX_SAMPLE + 1).replaceAll(/\s+/g, ' ');
  return line.length > MAX_SAMPLE ? `${line.slice(0, MAX_SAMPLE)}…` : line;
}

/** A visible row of the tree. */
export type ValueRow = { node: ValueNode; level: number };

/** Returns the visible rows: the rows of expanded branches, or with a search text all matching rows. */
export function visibleRows(nodes: readonly ValueNode[], opened: ReadonlySet<string>, search: string): ValueRow[] {
  const words = search.toLowerCase().split(/\s+/).filter(Boolean);
  const rows: ValueRow[] = [];
  const visit = (node: ValueNode, level: number, above: string): void => {
    const own = `${above} ${node.label} ${node.detail ?? ''}`.toLowerCase();
    if (words.length === 0) rows.push({ node, level });
    else if (rows.length < MAX_FOUND && words.every(word => own.includes(word))) rows.push({ node, level: 1 });
    if (words.length > 0 || opened.has(node.id)) for (const child of node.children) visit(child, level + 1, own);
  };
  for (const node of nodes) visit(node, 1, '');
  return rows;
}
