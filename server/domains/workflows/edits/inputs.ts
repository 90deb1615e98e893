import type { Fields, Json, Step } from './draft.ts';
import { codeFieldsOf, innerOf } from './references.ts';

/** A reference to a field of the workflow's input. `isGuarded`: it has a default after `??`. */
export type InputRead = { field: string; isGuarded: boolean };
type Replace = (read: InputRead & { kind: 'template' | 'expression' | 'script' }) => string | null;

const INPUT = /(?<![\w.\-\]])input(?![\w-])(?:\s*\.\s*([A-Za-z_]\w*)|\s*\[\s*"([^"\\]*)"\s*\])?(\s*\?\?)?/g;
const STRING = /^\s*(?:'[^']*'|"[^"]*")\s*$/;

/** Thrown internally if the whole input is read, or if `replace` returns null. */
class NotPossible extends Error {}

function inCode(code: string, kind: 'template' | 'expression' | 'script', replace: Replace): string {
  return code.replace(INPUT, (whole: string, dotted?: string, quoted?: string, guard?: string) => {
    const field = dotted ?? quoted;
    // A reference without a field reads the whole input.
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

/** Replaces each reference to the input by the path from `replace`; an empty path keeps the reference. Returns null if a reference cannot be replaced. */
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
    // Templates in the code are replaced already.
    return [field, betweenTemplates(texts, part => inCode(part, code.kind, replace))];
  });
  return Object.fromEntries(entries) as Step;
}

const betweenTemplates = (text: string, change: (part: string) => string): string =>
  text
    .split(/(\{\{[\s\S]*?\}\})/)
    .map(part => (part.startsWith('{{') ? part : change(part)))
    .join('');

/** Returns the fields of the input that a step reads; null if it reads the whole input. */
export function inputsOf(step: Step): InputRead[] | null {
  const reads: InputRead[] = [];
  const seen = replaceInputs(step, ({ field, isGuarded }) => {
    reads.push({ field, isGuarded });
    return '';
  });
  return seen === null ? null : reads;
}

/** Returns whether a step tests with `has` whether the input has a field. */
export const asksForInput = (step: Step): boolean =>
  Object.values(step).some(value => typeof value === 'string' && /\bhas\s*\(\s*input\b/.test(value));
