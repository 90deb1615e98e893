import { type Fields, type Json, STEP_ID, type Step, type Unrewritten, withFields } from './draft.ts';

/**
 * Renames references to a step: `{{steps.<id>.result…}}` in any text, `steps.<id>` and `steps["<id>"]` in CEL. Each text is read once from
 * left to right, so the time is linear.
 */

/** Fields with a CEL expression, by step type. A field with a template has no expression. */
const CEL_FIELDS: ReadonlyMap<string, readonly string[]> = new Map([
  ['condition', ['expression']],
  ['for_each', ['items']],
]);
/** The step type that contains steps. */
const LOOP = 'for_each';
/** Fields with Lua, by step type. Templates in them are rewritten, but not the code. */
const LUA_FIELDS: ReadonlyMap<string, readonly string[]> = new Map([['lua_script', ['script']]]);

type Rename = { from: string; to: string };

/** Returns the fields of a step type that hold code, in which paths are read without templates. */
export const codeFieldsOf = (type: string): readonly { field: string; kind: 'expression' | 'script' }[] => [
  ...(CEL_FIELDS.get(type) ?? []).map(field => ({ field, kind: 'expression' as const })),
  ...(LUA_FIELDS.get(type) ?? []).map(field => ({ field, kind: 'script' as const })),
];

/** Renames references in the texts of a step. Returns the same object if there are none. */
export function renameInTexts(step: Step, rename: Rename): Step {
  return renameInFields(step, step.type, rename) as Step;
}

/** Returns whether a template, an expression or Lua of the step may read the step `id`. */
export function readsStep(step: Step, id: string): boolean {
  return renameInTexts(step, { from: id, to: `${id}_` }) !== step || luaReferences(step, id).length > 0;
}

/** Returns whether a template in a value reads the step `id`. */
export const readsInValue = (value: Json, id: string): boolean =>
  renameInValue(value, { from: id, to: `${id}_` }) !== value;

/** Renames references in fields of a step. Returns the same object if there are none. */
export function renameInFields(fields: Fields, type: string, rename: Rename): Fields {
  const cel = CEL_FIELDS.get(type) ?? [];
  const changed: [string, Json][] = [];
  for (const [field, value] of Object.entries(fields)) {
    if (field === 'id' || field === 'type') continue;
    const inner = type === LOOP && field === 'steps' ? stepsIn(value) : null;
    const renamed =
      inner !== null
        ? renameInSteps(inner, rename)
        : cel.includes(field) && typeof value === 'string' && !value.includes('{{')
          ? renameInCel(value, rename)
          : renameInValue(value, rename);
    if (renamed !== value) changed.push([field, renamed]);
  }
  return changed.length === 0 ? fields : withFields(fields, Object.fromEntries(changed));
}

/** Returns the steps of a loop; null if the value is no list of steps. */
function stepsIn(value: Json | undefined): readonly Step[] | null {
  const isText = (item: unknown) => typeof item === 'string';
  const isStep = (item: Json) =>
    typeof item === 'object' && item !== null && 'id' in item && 'type' in item && isText(item.id) && isText(item.type);
  return Array.isArray(value) && value.every(isStep) ? value : null;
}

/** Returns the steps of a loop; empty for other steps and invalid loops. */
export const innerOf = (step: Step): readonly Step[] => (step.type === LOOP ? (stepsIn(step.steps) ?? []) : []);

/** Returns the ids of the steps of a loop at any depth; empty for other steps. */
export function idsInLoop(step: Step): Set<string> {
  const inner = step.type === LOOP ? (stepsIn(step.steps) ?? []) : [];
  return new Set(inner.flatMap(each => [each.id, ...idsInLoop(each)]));
}

/** Renames references in the steps of a loop, unless the loop has a step with this id, to which the references then belong. */
function renameInSteps(steps: readonly Step[], rename: Rename): readonly Step[] {
  if (steps.some(({ id }) => id === rename.from)) return steps;
  const renamed = steps.map(step => renameInTexts(step, rename));
  return renamed.some((step, at) => step !== steps[at]) ? renamed : steps;
}

/** Renames references in the texts of a JSON value at any depth. Returns the same value if there are none. */
export function renameInValue(value: Json, rename: Rename): Json {
  if (typeof value === 'string') return renameInTemplates(value, rename);
  if (typeof value !== 'object' || value === null) return value;
  if (Array.isArray(value)) {
    const items: readonly Json[] = value;
    const renamed = items.map(item => renameInValue(item, rename));
    return renamed.some((item, at) => item !== items[at]) ? renamed : value;
  }
  const fields = value as Fields;
  const entries = Object.entries(fields).map(([key, item]): [string, Json] => [
    renameInTemplates(key, rename),
    renameInValue(item, rename),
  ]);
  const isSame = entries.every(([key, item]) => Object.hasOwn(fields, key) && item === fields[key]);
  if (isSame) return value;
  // If two keys would become equal, all keys keep the old id, which validation reports. No value is lost.
  if (new Set(entries.map(([key]) => key)).size < entries.length)
    return Object.fromEntries(Object.keys(fields).map((key, at) => [key, entries[at]?.[1] ?? null]));
  return Object.fromEntries(entries);
}

const SPACES = /[\t-\r ]*/y;
const TEMPLATE_STEP = /steps(?:\.([A-Za-z_\x80-\uffff][\w\x80-\uffff-]*)|\[[\t-\r ]*("(?:[^"\\]|\\.)*")[\t-\r ]*\])/y;

/** Renames `steps.<from>` in templates, also after `??`. Invalid templates do not change. */
function renameInTemplates(text: string, rename: Rename): string {
  if (!text.includes(rename.from)) return text;
  let result = '';
  let copied = 0;
  for (let open = text.indexOf('{{', copied); open !== -1; open = text.indexOf('{{', copied)) {
    // A path begins at the start of a template or after `??`.
    for (let start: number | null = open + 2; start !== null; ) {
      const at = endOf(SPACES, text, start);
      TEMPLATE_STEP.lastIndex = at;
      const match = TEMPLATE_STEP.exec(text);
      const isQuoted = start === open + 2 && text[at] === "'";
      const behind = isQuoted ? endOfQuoted(text, at) : match === null ? at : TEMPLATE_STEP.lastIndex;
      result += text.slice(copied, at) + renamedPath(match, text.slice(at, behind), rename);
      const next = endOfPath(text, behind);
      result += text.slice(behind, next.at);
      copied = next.at;
      start = next.isFollowed ? next.at : null;
    }
  }
  return result + text.slice(copied);
}

/** Returns the end of a text in single quotes at the start of a template. */
function endOfQuoted(text: string, at: number): number {
  const end = text.indexOf("'", at + 1);
  return end === -1 ? text.length : end + 1;
}

function renamedPath(match: RegExpExecArray | null, path: string, { from, to }: Rename): string {
  const id = match?.[1] ?? stringLiteral(match?.[2]);
  if (match === null || id !== from) return path;
  return match[1] === undefined ? `steps[${JSON.stringify(to)}]` : `steps.${to}`;
}

function endOf(pattern: RegExp, text: string, at: number): number {
  pattern.lastIndex = at;
  pattern.test(text);
  return Math.max(at, pattern.lastIndex);
}

/**
 * Returns the start of the next path in the template before `at`, or the end of the template. An open template ends with the text. Literals
 * are skipped, because they may look like a template.
 */
function endOfPath(text: string, at: number): { at: number; isFollowed: boolean } {
  let depth = 0;
  for (let n = at; n < text.length; n += 1) {
    const c = text[n];
    if (c === '"') {
      n += 1;
      while (n < text.length && text[n] !== '"') n += text[n] === '\\' ? 2 : 1;
    } else if (c === '{' || c === '[') depth += 1;
    else if (c === '?' && text[n + 1] === '?' && depth === 0) return { at: n + 2, isFollowed: true };
    else if (c === '}' && depth === 0) return { at: text[n + 1] === '}' ? n + 2 : n + 1, isFollowed: false };
    else if (c === '}' || c === ']') depth = Math.max(0, depth - 1);
  }
  return { at: text.length, isFollowed: false };
}

function stringLiteral(literal: string | undefined): string | undefined {
  if (literal === undefined) return undefined;
  try {
    return JSON.parse(literal) as string;
  } catch {
    return undefined;
  }
}

/** Matches a token of CEL: a comment, string, name, number, blanks, or any other single character. */
const CEL_TOKEN =
  /\/\/[^\n]*|[bB]?[rR]?(?:"""[\s\S]*?"""|'''[\s\S]*?''')|[rR][bB]?(?:"[^"\n]*"|'[^'\n]*')|[bB]?(?:"(?:[^"\\\n]|\\.)*"|'(?:[^'\\\n]|\\.)*')|[A-Za-z_]\w*|\d[\w.]*|\s+|[\s\S]/y;
const CEL_NAME = /^[A-Za-z_]\w*$/;
/** The longest expression that can be published, in characters. Longer ones are not rewritten. */
const MAX_EXPRESSION_CHARACTERS = 4_096;
/** Words that CEL does not allow after a dot. */
const CEL_RESERVED: ReadonlySet<string> = new Set(['true', 'false', 'null', 'in']);

/** Renames `steps.<from>` and `steps["<from>"]` in an expression. An id that is no name of CEL is written in brackets. */
function renameInCel(text: string, { from, to }: Rename): string {
  if (!text.includes(from) || text.length > MAX_EXPRESSION_CHARACTERS) return text;
  const tokens = tokensOf(text);
  const next = (at: number): number => {
    let n = at + 1;
    while (n < tokens.length && /^(\s|\/\/)/.test(tokens[n] ?? '')) n += 1;
    return n;
  };
  const isName = CEL_NAME.test(to) && !CEL_RESERVED.has(to);
  let before = '';
  for (let at = 0; at < tokens.length; at += 1) {
    const token = tokens[at] ?? '';
    if (token === 'steps' && before !== '.') {
      const mark = next(at);
      const name = next(mark);
      if (tokens[mark] === '.' && tokens[name] === from) {
        tokens[mark] = isName ? '.' : '[';
        tokens[name] = isName ? to : `${JSON.stringify(to)}]`;
      } else if (tokens[mark] === '[' && celString(tokens[name]) === from && tokens[next(name)] === ']') {
        tokens[name] = JSON.stringify(to);
      }
    }
    if (!/^(\s|\/\/)/.test(token)) before = token;
  }
  return tokens.join('');
}

function tokensOf(text: string): string[] {
  const tokens: string[] = [];
  CEL_TOKEN.lastIndex = 0;
  for (let match = CEL_TOKEN.exec(text); match !== null; match = CEL_TOKEN.exec(text)) tokens.push(match[0]);
  return tokens;
}

/** Returns the value of a CEL string without escapes; undefined for other tokens. Ids need no escapes. */
function celString(token: string | undefined): string | undefined {
  const [, double, single] = /^(?:"([^"\\]*)"|'([^'\\]*)')$/.exec(token ?? '') ?? [];
  return double ?? single;
}

/**
 * Returns the lines in a step's Lua that may read the step `id`. The code is not parsed: a line counts if it mentions the id, and the script
 * mentions `steps`.
 */
export function luaReferences(step: Step, id: string): Unrewritten[] {
  if (!STEP_ID.test(id)) return [];
  const loop = step.type === LOOP ? (stepsIn(step.steps) ?? []) : [];
  const inner = loop.some(each => each.id === id) ? [] : loop;
  const found: Unrewritten[] = inner.flatMap((each, at) =>
    luaReferences(each, id).map(place => ({ ...place, step: step.id, field: `steps[${at}].${place.field}` })),
  );
  // An id has no special characters of regular expressions.
  const mentions = new RegExp(`(?<![\\w-])${id}(?![\\w-])`);
  for (const field of LUA_FIELDS.get(step.type) ?? []) {
    const script = step[field];
    if (typeof script !== 'string' || !script.includes(id) || !/\bsteps\b/.test(withoutTemplates(script))) continue;
    for (const [at, line] of script.split('\n').entries()) {
      if (mentions.test(withoutTemplates(line)) && /\bsteps\b|["']/.test(line)) {
        found.push({ step: step.id, field, line: at + 1, text: line.trim().slice(0, 200) });
      }
    }
  }
  return found;
}

/** Removes the templates of a line, which are rewritten and need no report. */
const withoutTemplates = (line: string) => line.replace(/\{\{[^{}]*\}\}/g, ' ');
