import { jsonLanguage } from '@codemirror/lang-json';

export type GraphProblem = { step_id: string | null; path: string; code: string; message: string; hint?: string };
export type Range = { from: number; to: number };

type SyntaxNode = ReturnType<ReturnType<typeof jsonLanguage.parser.parse>['resolve']>;

function propertyValue(text: string, object: SyntaxNode, name: string): { key: Range; value: SyntaxNode } | null {
  for (let property = object.getChild('Property'); property; property = property.nextSibling) {
    if (property.name !== 'Property') continue;
    const key = property.getChild('PropertyName');
    const value = property.lastChild;
    if (!key || !value || value.from === key.from) continue;
    if (decode(text.slice(key.from, key.to)) === name) return { key: { from: key.from, to: key.to }, value };
  }
  return null;
}

/** Returns the value of a JSON string literal, or the literal itself while it is incomplete. */
function decode(literal: string): string {
  try {
    return String(JSON.parse(literal));
  } catch {
    return literal;
  }
}

const isValue = (node: SyntaxNode) =>
  ['Object', 'Array', 'String', 'Number', 'True', 'False', 'Null'].includes(node.name);

function items(array: SyntaxNode): SyntaxNode[] {
  const found: SyntaxNode[] = [];
  for (let child = array.firstChild; child; child = child.nextSibling) if (isValue(child)) found.push(child);
  return found;
}

/** `tool_args.list[2].name` → ['tool_args', 'list', 2, 'name']. */
function segments(path: string): (string | number)[] {
  return [...path.matchAll(/\[(\d+)\]|([^.[\]]+)/g)].map(match =>
    match[1] === undefined ? String(match[2]) : Number(match[1]),
  );
}

/**
 * Returns the range of a problem in the text of a graph (`{"steps":[…]}`): the value at its path, else the nearest value around that, else
 * the step's id, else the first character. Works on text that does not parse.
 */
export function locateProblem(text: string, problem: Pick<GraphProblem, 'step_id' | 'path'>): Range {
  const top = jsonLanguage.parser.parse(text).topNode.firstChild;
  const start = { from: 0, to: Math.min(1, text.length) };
  if (top?.name !== 'Object') return start;
  const steps = propertyValue(text, top, 'steps');
  if (steps?.value.name !== 'Array') return start;
  if (problem.step_id === null) return rangeAt(text, top, { path: problem.path, range: steps.key });
  const step = items(steps.value).find(item => {
    const id = item.name === 'Object' ? propertyValue(text, item, 'id') : null;
    return id !== null && decode(text.slice(id.value.from, id.value.to)) === problem.step_id;
  });
  if (!step) return steps.key;
  const id = propertyValue(text, step, 'id');
  const range = id ? { from: id.value.from, to: id.value.to } : { from: step.from, to: step.from + 1 };
  return rangeAt(text, step, { path: problem.path, range });
}

/**
 * Returns the range of the value that `path` names within `node`, or of the nearest value around it; `range` if the path does not exist.
 */
function rangeAt(text: string, within: SyntaxNode, { path, range: initial }: { path: string; range: Range }): Range {
  let range = initial;
  let node = within;
  for (const segment of segments(path)) {
    const next: SyntaxNode | undefined =
      typeof segment === 'number'
        ? node.name === 'Array'
          ? items(node)[segment]
          : undefined
        : node.name === 'Object'
          ? propertyValue(text, node, segment)?.value
          : undefined;
    if (!next) break;
    node = next;
    range = { from: node.from, to: node.to };
  }
  return range;
}
