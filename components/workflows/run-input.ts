import { isObject } from '@/server/platform/json.ts';
import { isNumber, JsonNumberError, parseJson, readNumber } from '@/server/platform/json-text.ts';
import { readText, store } from '../ui/browser-storage.ts';

export type InputValue = string | number | bigint | boolean | null | InputValue[] | { [key: string]: InputValue };
export type InputObject = { [key: string]: InputValue };
export type InputField = {
  name: string;
  kind: 'text' | 'number' | 'boolean' | 'json';
  /** True if the field has several lines. Fixed from the start, because a control that is replaced loses the focus. */
  multiline?: boolean;
};

const TOO_LARGE = 'An integer may have at most 64 bits. Send a larger one as text.';
/** The maximum length of a text that fits in one line of the form. */
const MAX_LINE_CHARACTERS = 60;

/** Returns the fields of an input form, from a sample of the input: one per key, in its order. */
export function fieldsOf(sample: InputObject): InputField[] {
  return Object.entries(sample).map(([name, value]) => {
    const kind = kindOf(value);
    return { name, kind, multiline: kind === 'json' || fieldText(value).length > MAX_LINE_CHARACTERS };
  });
}

function kindOf(value: InputValue): InputField['kind'] {
  if (typeof value === 'string') return 'text';
  if (isNumber(value)) return 'number';
  return typeof value === 'boolean' ? 'boolean' : 'json';
}

/** Returns the text of a field for a value. */
export function fieldText(value: InputValue | undefined): string {
  if (value === undefined) return '';
  return typeof value === 'string' ? value : JSON.stringify(value);
}

/** Returns the value of a field's text, or its problem. The value of an empty number or JSON field is undefined. */
export function readField(field: InputField, text: string): { value: InputValue | undefined } | { problem: string } {
  if (field.kind === 'text') return { value: text };
  if (text.trim() === '') return { value: undefined };
  if (field.kind === 'number') {
    const value = readNumber(text);
    if (typeof value === 'number' && !Number.isFinite(value))
      return { problem: /^\s*[-+]?\d+\s*$/.test(text) ? TOO_LARGE : 'Enter a number.' };
    return { value };
  }
  try {
    return { value: parseJson(text) };
  } catch (error) {
    return { problem: error instanceof JsonNumberError ? error.message : 'This is not JSON.' };
  }
}

/** Parses a text as the input of a run, which is always an object. */
export function parseInput(text: string): { input: InputObject } | { problem: string } {
  if (text.trim() === '') return { input: {} };
  try {
    const value: unknown = parseJson(text);
    if (isObject(value)) return { input: value };
    return { problem: 'The input must be a JSON object.' };
  } catch (error) {
    return { problem: error instanceof Error ? error.message : 'This is not JSON.' };
  }
}

const key = (workflowId: string) => `baton:last-input:${workflowId}`;

/** Returns the input of the last run that this browser started; null if there is none or the browser refuses storage. */
export function lastInput(workflowId: string): InputObject | null {
  const kept = readText(key(workflowId));
  const parsed = kept === '' ? null : parseInput(kept);
  return parsed && 'input' in parsed ? parsed.input : null;
}

export function keepInput(workflowId: string, input: InputObject): void {
  store(key(workflowId), input);
}
