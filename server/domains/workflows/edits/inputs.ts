import type { Fields, Json, Step } from './draft.ts';
import { codeFieldsOf, innerOf } from './references.ts';

/** One reading of the workflow's input: which field, and whether something stands in for it where it is missing. */
export type InputRead = { field: string; isGuarded: boolean };
type Replace = (read: InputRead & { kind: 'template' | 'expression' | 'script' }) => string | null;

const INPUT = /(?<![\w.\-\]])input(?![\w-])(?:\s*\.\s*([A-Za-z_]\w*)|\s*\[\s*"([^"\\]*)"\s*\])?(\s*\?\?)?/g;
const STRING = /^\s*(?:'[^']*'|"[^"]*")\s*$/;

/** Thrown inside where the input is read as a whole, or where `replace` has nothing to put there. */
class NotPossible extends Error {}

function inCode(code: string, kind: 'template' | 'expression' | 'script', replace: Replace): string {
  return code.replace(INPUT, (whole: string, dotted?: string, quoted?: string, guard?: string) => {
    const field = dotted ?? quoted;
    // An expression asks by `has` whether a field is there at all.
    if (field === undefined) throw new NotPossible();
    const path = replace({ field, isGuarded: guard !== undefined, kind });
    if (path === null) throw new NotPossible();
    return path === '' ? whole : `${path}${guard ?? ''}`;
  });
}

function inTexts(value: Json, replace: Replace): Json {
  if (typeof value === 'string')
    return value.replace(/\{\{([\s\S]*?)\}\}/g, (_, code: string) =>
      STRING.test(code) ? `{{${code}}}` : `{{${inCode(code, 'template', replace)}}}`,
    );
  if (typeof value !== 'object' || value === null) return value;
  if (Array.isArray(value)) return (value as readonly Json[]).map(each => inTexts(each, replace));
  return Object.fromEntries(
    Object.entries(value as Fields).map(([key, each]) => [String(inTexts(key, replace)), inTexts(each, replace)]),
  );
}

/** Returns the step with each reading of the input as `replace` says (empty: as it is); null where that is not possible. */
export function replaceInputs(step: Step, replace: Replace): Step | null {
  try {
    return replaced(step, replace);
  } catch (error) {
    if (error instanceof NotPossible) return null;
    throw error;
  }
}

function replaced(step: Step, replace: Replace): Step {
  const codes = codeFieldsOf(step.type);
  const entries = Object.entries(step).map(([field, value]): [string, Json] => {
    if (field === 'id' || field === 'type' || field === 'name') return [field, value];
    if (field === 'steps' && innerOf(step).length > 0)
      return [field, innerOf(step).map(each => replaced(each, replace))];
    const texts = inTexts(value, replace);
    const code = codes.find(each => each.field === field);
    if (code === undefined || typeof texts !== 'string' || (code.kind === 'expression' && texts.includes('{{')))
      return [field, texts];
    // What templates in a script read is read there; the rest is code.
    return [field, betweenTemplates(texts, part => inCode(part, code.kind, replace))];
  });
  return Object.fromEntries(entries) as Step;
}

const betweenTemplates = (text: string, change: (part: string) => string): string =>
  text
    .split(/(\{\{[\s\S]*?\}\})/)
    .map(part => (part.startsWith('{{') ? part : change(part)))
    .join('');

/** Returns the fields of the input that a step reads; null where it reads the input as a whole. */
export function inputsOf(step: Step): InputRead[] | null {
  const reads: InputRead[] = [];
  const seen = replaceInputs(step, ({ field, isGuarded }) => {
    reads.push({ field, isGuarded });
    return '';
  });
  return seen === null ? null : reads;
}

/** Whether a step asks whether the input has a field. */
export const asksForInput = (step: Step): boolean =>
  Object.values(step).some(value => typeof value === 'string' && /\bhas\s*\(\s*input\b/.test(value));
