import { escaped } from '../../../server/domains/workflows/edits/escaped.ts';
import type { Edit, Fields, Graph, Json, Step } from '../../../server/domains/workflows/edits/index.ts';
import type { FormModel } from './form-model.ts';

/** The owner of the values that a form names: the result of a step, or the input of the workflow. */
export type FormOwner = { step: string } | 'input';
export type FieldRename = { from: string; to: string };

/** Returns the single renamed field of the next form; null if fields were added, removed or moved. */
export function renamedField(before: FormModel, after: FormModel): FieldRename | null {
  if (before.fields.length !== after.fields.length) return null;
  const differing = before.fields.flatMap(({ name }, index) => {
    const to = after.fields[index]?.name ?? '';
    return name === to ? [] : [{ from: name, to }];
  });
  const [only, ...others] = differing;
  const isNew = only !== undefined && before.fields.every(({ name }) => name !== only.to);
  return isNew && others.length === 0 ? only : null;
}

/** Returns a pattern for a member after a dot or in brackets, as templates, CEL and Lua write it. */
const member = (name: string) => {
  const plain = escaped(name);
  return String.raw`(?:\.${plain}(?![\w\x80-\uffff-])|\[\s*(?:"${plain}"|'${plain}')\s*\])`;
};
/** Matches comments and texts of CEL and Lua, which contain no paths. */
const COMMENT_OR_TEXT = String.raw`\/\/[^\n]*|--[^\n]*|"""[\s\S]*?"""|'''[\s\S]*?'''|"(?:[^"\\\n]|\\.)*"|'(?:[^'\\\n]|\\.)*'`;

/** Returns a function that replaces the old name in a text with paths, such as an expression or the inside of a template. */
function pathRenamer(owner: FormOwner, { from, to }: FieldRename): (text: string) => string {
  const root = owner === 'input' ? 'input' : `steps${member(owner.step)}${member('result')}`;
  const pattern = new RegExp(String.raw`(?<![\w."'\]\x80-\uffff-])(${root})${member(from)}|${COMMENT_OR_TEXT}`, 'g');
  return text =>
    text.replace(pattern, (found, path: string | undefined) => (path === undefined ? found : `${path}.${to}`));
}

/** Applies a function to the text between `{{` and `}}`. */
function inTemplates(text: string, rename: (path: string) => string): string {
  let result = '';
  let copied = 0;
  for (let open = text.indexOf('{{'); open !== -1; open = text.indexOf('{{', copied)) {
    const end = text.indexOf('}}', open);
    if (end === -1) break;
    result += text.slice(copied, open) + rename(text.slice(open, end));
    copied = end;
  }
  return result + text.slice(copied);
}

/** Returns a value with its texts changed; the same value if no text changes. */
function inTexts(value: Json, change: (text: string) => string): Json {
  if (typeof value === 'string') return change(value);
  if (typeof value !== 'object' || value === null) return value;
  if (Array.isArray(value)) {
    const items: readonly Json[] = value;
    const changed = items.map(item => inTexts(item, change));
    return changed.some((item, at) => item !== items[at]) ? changed : value;
  }
  const entries = Object.entries(value as Fields).map(([key, item]) => [key, inTexts(item, change), item] as const);
  if (entries.every(([, after, before]) => after === before)) return value;
  return Object.fromEntries(entries.map(([key, after]) => [key, after]));
}

const isStep = (value: Json): boolean =>
  typeof value === 'object' && value !== null && 'type' in value && typeof value.type === 'string';
const isExpression = (type: string, field: string, value: Json): value is string =>
  ((type === 'condition' && field === 'expression') || (type === 'for_each' && field === 'items')) &&
  typeof value === 'string' &&
  !value.includes('{{');

/** Returns the fields of a step that read the old name, with the name replaced. */
function changedFields(step: Step, rename: (path: string) => string): Fields {
  const changed = Object.entries(step).flatMap(([field, value]): [string, Json][] => {
    if (field === 'id' || field === 'type') return [];
    if (step.type === 'for_each' && field === 'steps' && Array.isArray(value) && value.every(isStep)) {
      const inner: readonly Step[] = value;
      const fields = inner.map(each => changedFields(each, rename));
      if (fields.every(each => Object.keys(each).length === 0)) return [];
      return [[field, inner.map((each, at) => ({ ...each, ...fields[at] })) as Json]];
    }
    const after = isExpression(step.type, field, value)
      ? rename(value)
      : inTexts(value, text => inTemplates(text, rename));
    return after === value ? [] : [[field, after]];
  });
  return Object.fromEntries(changed);
}

/** Returns the edits that rename a field in all templates and expressions that read it. */
export function planFieldRename(graph: Graph, owner: FormOwner, renamed: FieldRename): Edit[] {
  const rename = pathRenamer(owner, renamed);
  const steps = graph.steps.flatMap((step): Edit[] => {
    const set = changedFields(step, rename);
    return Object.keys(set).length === 0 ? [] : [{ type: 'update_step', step: step.id, set }];
  });
  const own = (['output', 'searchable'] as const).flatMap((field): [string, Json][] => {
    const value = graph[field] as Json | undefined;
    const after = value === undefined ? undefined : inTexts(value, text => inTemplates(text, rename));
    return after === undefined || after === value ? [] : [[field, after]];
  });
  return own.length === 0 ? steps : [...steps, { type: 'update_graph', set: Object.fromEntries(own) } as Edit];
}

/** Returns the steps whose Lua reads the old name. Lua code is not rewritten, because a program cannot know what it does. */
export function scriptsReading(graph: Graph, owner: FormOwner, renamed: FieldRename): string[] {
  const rename = pathRenamer(owner, renamed);
  const reads = (step: Step): boolean =>
    (typeof step.script === 'string' &&
      rename(step.script.replaceAll(/\{\{[^{}]*\}\}/g, ' ')) !== step.script.replaceAll(/\{\{[^{}]*\}\}/g, ' ')) ||
    (step.type === 'for_each' && Array.isArray(step.steps) && (step.steps as Step[]).some(reads));
  return graph.steps.filter(reads).map(({ id }) => id);
}
