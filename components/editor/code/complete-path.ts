import { isObject } from '@/server/platform/json.ts';
import type { Json } from '../../../server/domains/workflows/edits/index.ts';
import { type CompletionData, exampleAt, segmentsOf } from './example-values.ts';
import type { CodeLanguage } from './languages.ts';

export type Suggestion = { label: string; detail?: string; kind: 'property' | 'variable' | 'function' };
/** `from` is the start of the text that a suggestion replaces. */
export type Suggestions = { from: number; options: readonly Suggestion[] };
/** The partly typed name and the path before it. The path is empty for the first name. */
export type Typing = { from: number; path: readonly string[]; name: string };

const ROOTS: readonly Suggestion[] = [
  { label: 'input', detail: 'input of the run', kind: 'variable' },
  { label: 'steps', detail: 'earlier steps', kind: 'variable' },
];
const LOOP_ROOTS: readonly Suggestion[] = [
  { label: 'item', detail: 'item of the loop', kind: 'variable' },
  { label: 'index', detail: 'its number, from 0', kind: 'variable' },
];
const functions = (names: readonly string[]): Suggestion[] => names.map(label => ({ label, kind: 'function' }));
const ENCODINGS: readonly Suggestion[] = [
  { label: 'base64', detail: 'encode, decode', kind: 'variable' },
  { label: 'hex', detail: 'encode, decode', kind: 'variable' },
];
const GLOBALS: Readonly<Record<'lua' | 'cel', readonly Suggestion[]>> = {
  lua: [
    ...ROOTS,
    { label: 'run', detail: 'id, workflow_id, version', kind: 'variable' },
    { label: 'json', detail: 'encode, decode, array, null', kind: 'variable' },
    ...ENCODINGS,
    ...functions(['log', 'ipairs', 'pairs', 'pcall', 'error', 'tonumber', 'tostring', 'type', 'select']),
    ...(['string', 'table', 'math', 'utf8', 'coroutine', 'os'] as const).map(
      (label): Suggestion => ({ label, kind: 'variable' }),
    ),
  ],
  cel: [
    ...ROOTS,
    ...ENCODINGS,
    ...functions(['has', 'size', 'int', 'double', 'string', 'bool', 'bytes', 'type', 'duration', 'timestamp']),
  ],
};

/** A name in a template may contain a hyphen; in code, a hyphen is a minus. */
const SEGMENT = { template: '[A-Za-z_][\\w-]*', code: '[A-Za-z_]\\w*' };
const typingPattern = (segment: string) =>
  new RegExp(
    `(?:^|[^\\w.\\]"'])(?:((?:input|steps|item)(?:\\.${segment}|\\[\\d+\\]|\\["[^"\\]]*"\\])*)\\.)?(${segment})?$`,
  );
const TYPING = { template: typingPattern(SEGMENT.template), code: typingPattern(SEGMENT.code) };

/**
 * Returns the partly typed name at the end of `text`, if the language offers completion there; otherwise null. Prose and JSON offer
 * completion only within `{{…}}`.
 */
export function typingAt(text: string, language: CodeLanguage): Typing | null {
  const isCode = language === 'lua' || language === 'cel';
  const start = isCode ? 0 : text.lastIndexOf('{{') + 2;
  if (start === 1) return null;
  const inner = isCode ? text : pathIn(text, start);
  if (inner === null) return null;
  const found = (isCode ? TYPING.code : TYPING.template).exec(inner);
  if (!found) return null;
  const [, path, name = ''] = found;
  // In code, nothing is suggested before the first letter.
  if (path === undefined && name === '' && isCode) return null;
  if (path === undefined && !isCode && inner.trim() !== name) return null;
  return { from: text.length - name.length, path: path === undefined ? [] : segmentsOf(path), name };
}

/** Returns the typed part of the last path in the template that begins at `start`; null in a literal and after the template. */
function pathIn(text: string, start: number): string | null {
  const inner = text.slice(start);
  // Braces in a quoted text do not start a template.
  if (inner.includes('}}') || /\{\{\s*'$/.test(text.slice(0, start - 2))) return null;
  const path = inner.slice(inner.lastIndexOf('??') + 1).replace(/^\?/, '');
  const isInText = path.split('"').length % 2 === 0 || path.includes("'");
  return isInText ? null : path;
}

/** Returns the suggestions for a partly typed name; null if there are none, or if the only suggestion is already typed. */
export function suggestionsFor(typing: Typing, language: CodeLanguage, data: CompletionData): Suggestions | null {
  const all = typing.path.length > 0 ? keysAt(typing.path, data) : rootsOf(language, data);
  const prefix = typing.name.toLowerCase();
  const options = all.filter(({ label }) => label.toLowerCase().startsWith(prefix));
  const [first, ...others] = options;
  if (first === undefined || (others.length === 0 && first.label === typing.name)) return null;
  return { from: typing.from, options };
}

function rootsOf(language: CodeLanguage, { loop }: CompletionData): readonly Suggestion[] {
  const roots = language === 'lua' || language === 'cel' ? GLOBALS[language] : ROOTS;
  return loop === null ? roots : [...LOOP_ROOTS, ...roots];
}

function keysAt(typed: readonly string[], data: CompletionData): Suggestion[] {
  const [root, id, part, ...path] = typed;
  if (root !== 'steps') return keysOf(exampleAt(typed, data));
  const { steps } = data;
  if (id === undefined) return steps.map(step => ({ label: step.id, detail: step.name, kind: 'variable' }));
  const step = steps.find(each => each.id === id);
  if (part === undefined) return keysOf({ result: step?.result ?? null, error: { code: '', message: '' } });
  if (part === 'error' && path.length === 0) return keysOf({ code: '', message: '' });
  return part === 'result' ? keysOf(exampleAt(typed, data)) : [];
}

function keysOf(value: Json): Suggestion[] {
  if (!isObject(value)) return [];
  return Object.entries(value).map(([label, each]) => ({ label, detail: typeName(each as Json), kind: 'property' }));
}

function typeName(value: Json): string {
  if (value === null) return 'any';
  if (Array.isArray(value)) return 'list';
  return typeof value === 'string' ? 'text' : typeof value;
}

/** Returns whether a name can follow a dot; any other name is written in brackets. */
export function isPlainName(name: string, language: CodeLanguage): boolean {
  const segment = language === 'lua' || language === 'cel' ? SEGMENT.code : SEGMENT.template;
  return new RegExp(`^${segment}$`).test(name);
}
