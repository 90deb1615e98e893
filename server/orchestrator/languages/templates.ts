import { ByteCache } from '../../platform/byte-cache.ts';
import { JsonNumberError, parseJson } from '../../platform/json-text.ts';
import { CACHE_LIMITS } from '../cache-limits.ts';
import type { JsonValue } from '../core/index.ts';

/**
 * Templates (docs/specification/steps.md#templates): `{{input.<path>}}`, `{{steps.<id>.result.<path>}}` and
 * `{{steps.<id>.error.<path>}}`, and in a loop also `{{item.<path>}}` and `{{index}}`. More paths may follow after
 * `??`, and a JSON literal at the end. `{{ '{{' }}` writes the quoted text. Templates contain no other code. The
 * scanner looks at each character once and uses no regular expression on the text, so that no template can be slow.
 */

/**
 * The source that a template reads. `response` occurs only in fields about a response that has just arrived
 * (parseResponseTemplate).
 */
type Source = 'input' | 'steps' | 'item' | 'index' | 'response';

/**
 * The source of a template's value (the run's input, the result of one step, a loop's item, or a response), with a path
 * of names and indexes.
 */
export type Reference = {
  source: Source;
  /** The step that is read; null for other sources. */
  step: string | null;
  /** Present if the error of the step is read, not its result. */
  error?: true;
  path: readonly (string | number)[];
  /** The alternative paths of the template, which are read in order if this one does not resolve or is null. */
  or?: readonly Reference[];
  /** The value to use if no path resolves; absent if the template has no literal. */
  fallback?: { value: JsonValue };
  /** The path as the author wrote it, without alternatives. Error messages name it. */
  text: string;
};

/** A parsed string: literal texts and references in order. `whole` is set if the string is exactly one template. */
export type Template = {
  readonly parts: readonly (string | Reference)[];
  readonly whole: Reference | null;
};

/** The error for a malformed template. `offset` counts UTF-16 units from the start of the string. */
export class TemplateSyntaxError extends Error {
  readonly offset: number;
  constructor(message: string, offset: number) {
    super(message);
    this.name = 'TemplateSyntaxError';
    this.offset = offset;
  }
}

/**
 * The maximum number of templates in one field. A text of the maximum length could hold three times as many, but no
 * author writes that many.
 */
export const MAX_REFERENCES = 10_000;
/** The maximum depth of nested brackets in a fallback. */
const DEEPEST_FALLBACK = 60;

/** Returns the error for the first template beyond the limit. `offset` is its position. */
export function tooManyReferences(offset: number): TemplateSyntaxError {
  return new TemplateSyntaxError(`more than ${MAX_REFERENCES} templates in one field`, offset);
}

const SINGLE_QUOTE = 0x27;
const DOUBLE_QUOTE = 0x22;
const QUESTION_MARK = 0x3f;
const isSpace = (c: number) => c === 0x20 || (c >= 0x09 && c <= 0x0d);
const isNameStart = (c: number) => (c >= 0x41 && c <= 0x5a) || (c >= 0x61 && c <= 0x7a) || c === 0x5f;
const isDigit = (c: number) => c >= 0x30 && c <= 0x39;
// `-` belongs to names because step ids may hold it (`^[A-Za-z_][A-Za-z0-9_-]{0,63}$`); there is no minus operator here.
const isNamePart = (c: number) => isNameStart(c) || isDigit(c) || c === 0x2d || c > 0x7f;

class Scanner {
  readonly text: string;
  at: number;
  constructor(text: string, at: number) {
    this.text = text;
    this.at = at;
  }
  fail(message: string, at = this.at): never {
    throw new TemplateSyntaxError(`${message} at character ${at + 1}`, at);
  }
  code(ahead = 0): number {
    return this.at + ahead < this.text.length ? this.text.charCodeAt(this.at + ahead) : -1;
  }
  spaces(): void {
    while (isSpace(this.code())) this.at++;
  }
  name(what: string): string {
    const from = this.at;
    const first = this.code();
    if (!isNameStart(first) && first <= 0x7f) this.fail(`${what} expected`);
    while (this.at < this.text.length && isNamePart(this.code())) this.at++;
    return this.text.slice(from, this.at);
  }
  /** Reads a JSON string literal, which starts at the current quote. */
  string(): string {
    const from = this.at++;
    while (this.code() !== 0x22) {
      if (this.at >= this.text.length) this.fail('this string is not closed', from);
      this.at += this.code() === 0x5c ? 2 : 1;
    }
    this.at++;
    return this.parseJson(from) as string;
  }
  /** Reads a text in single quotes, without escapes, which starts at the current quote. */
  quoted(): string {
    const from = this.at + 1;
    const end = this.text.indexOf("'", from);
    if (end === -1) this.fail('this string is not closed');
    this.at = end + 1;
    return this.text.slice(from, end);
  }
  /** Whether one of these words is at the current position. */
  startsWith(words: readonly string[]): boolean {
    return words.some(word => this.text.startsWith(word, this.at) && !isNamePart(this.code(word.length)));
  }
  /** Reads the closing `}}` and returns the position after it. */
  close(otherwise: string): number {
    if (this.code() === -1) this.fail('this template is not closed with }}');
    if (this.code() !== 0x7d || this.code(1) !== 0x7d) this.fail(`${otherwise}: }} expected`);
    return this.at + 2;
  }
  parseJson(from: number): JsonValue {
    try {
      return parseJson(this.text.slice(from, this.at));
    } catch (error) {
      return this.fail(error instanceof JsonNumberError ? error.message : 'this is not a JSON literal', from);
    }
  }
  /** Reads any JSON literal: counts brackets outside strings to find its end, then JSON.parse checks it. */
  literal(): JsonValue {
    const from = this.at;
    let depth = 0;
    for (;;) {
      const c = this.code();
      if (c === -1) this.fail('this template is not closed with }}', from);
      if (c === 0x22) {
        this.string();
        continue;
      }
      if (c === 0x7b || c === 0x5b) {
        if (++depth > DEEPEST_FALLBACK) this.fail(`brackets more than ${DEEPEST_FALLBACK} levels deep`, from);
      } else if (c === 0x7d || c === 0x5d) {
        if (depth === 0) break;
        depth--;
      }
      this.at++;
    }
    return this.parseJson(from);
  }
  path(): (string | number)[] {
    const path: (string | number)[] = [];
    for (;;) {
      const c = this.code();
      if (c === 0x2e) {
        this.at++;
        path.push(this.name('a name'));
      } else if (c === 0x5b) {
        this.at++;
        this.spaces();
        path.push(this.key());
        this.spaces();
        if (this.code() !== 0x5d) this.fail('] expected');
        this.at++;
      } else return path;
    }
  }
  key(): string | number {
    if (this.code() === 0x22) return this.string();
    const from = this.at;
    while (isDigit(this.code())) this.at++;
    if (this.at === from || this.at - from > 9) this.fail('an index or a name in double quotes expected', from);
    return Number(this.text.slice(from, this.at));
  }
}

const RUN_SOURCES: readonly Source[] = ['input', 'steps', 'item', 'index'];
const RESPONSE_SOURCES: readonly Source[] = ['response'];

type Scanned<Part> = { part: Part; end: number };

/**
 * Reads one template. `at` is the position after its `{{`. Returns its reference or text, and the position after the
 * template.
 */
function scanTemplate(text: string, at: number, sources: readonly Source[]): Scanned<Reference | string> {
  const scanner: Scanner = new Scanner(text, at);
  scanner.spaces();
  const quote = scanner.code();
  if (quote !== SINGLE_QUOTE && quote !== DOUBLE_QUOTE) return scanReference(scanner, sources);
  const part = quote === DOUBLE_QUOTE ? scanner.string() : scanner.quoted();
  scanner.spaces();
  return { part, end: scanner.close('only }} may follow a text in {{ }}') };
}

/** Reads the paths of a template, and the literal after them. */
function scanReference(scanner: Scanner, sources: readonly Source[]): Scanned<Reference> {
  const reference = scanPath(scanner, sources);
  const or: Reference[] = [];
  while (scanner.code() === QUESTION_MARK && scanner.code(1) === QUESTION_MARK) {
    scanner.at += 2;
    scanner.spaces();
    if (!scanner.startsWith(sources)) {
      reference.fallback = { value: scanner.literal() };
      scanner.spaces();
      break;
    }
    or.push(scanPath(scanner, sources));
  }
  if (or.length > 0) reference.or = or;
  return { part: reference, end: scanner.close('only paths, ?? and a JSON literal at the end may stand in {{ }}') };
}

/** Reads a path, and the space after it. */
function scanPath(scanner: Scanner, sources: readonly Source[]): Reference {
  const { text } = scanner;
  const from = scanner.at;
  const name = scanner.name(sources.join(' or '));
  const source = sources.find(each => each === name);
  if (source === undefined) {
    scanner.fail(`a template reads ${sources.join(' or ')}, not "${name.slice(0, 40)}"`, from);
  }
  const path = scanner.path();
  let step: string | null = null;
  let field: string | number | undefined;
  if (source === 'steps') {
    const [id, part] = path.splice(0, 2);
    if (typeof id !== 'string' || (part !== 'result' && part !== 'error')) {
      scanner.fail('a step is read as steps.<id>.result or steps.<id>.error', from);
    }
    step = id;
    field = part;
  }
  const reference: Reference = { source, step, path, text: text.slice(from, scanner.at) };
  if (field === 'error') reference.error = true;
  scanner.spaces();
  return reference;
}

function parse(text: string, sources = RUN_SOURCES): Template {
  const parts: (string | Reference)[] = [];
  let at = 0;
  let references = 0;
  /** Adjacent texts become one part. */
  let literal = '';
  for (;;) {
    const open = text.indexOf('{{', at);
    if (open === -1) break;
    literal += text.slice(at, open);
    const { part, end } = scanTemplate(text, open + 2, sources);
    references += 1 + (typeof part === 'object' ? (part.or?.length ?? 0) : 0);
    if (references > MAX_REFERENCES) throw tooManyReferences(open);
    at = end;
    if (typeof part === 'string') {
      literal += part;
      continue;
    }
    if (literal !== '') parts.push(literal);
    literal = '';
    parts.push(part);
  }
  literal += text.slice(at);
  if (literal !== '') parts.push(literal);
  const only = parts.length === 1 ? parts[0] : undefined;
  return { parts, whole: typeof only === 'object' ? only : null };
}

/** Every string of every step is parsed once per process. */
const parsedTemplates = new ByteCache<Template>(CACHE_LIMITS.templates);
const PART_BYTES = 300;

/** Parses a string. Throws TemplateSyntaxError. Results are cached and shared: do not change them. */
export function parseTemplate(text: string): Template {
  const known = parsedTemplates.get(text);
  if (known) return known;
  const template = parse(text);
  const references = template.parts.reduce(
    (sum, part) => sum + (typeof part === 'string' ? 1 : pathsOf(part).length),
    0,
  );
  parsedTemplates.set(text, template, 4 * text.length + PART_BYTES * references);
  return template;
}

/**
 * Parses a string whose templates read only `response`. Not cached: these strings are short. Throws
 * TemplateSyntaxError.
 */
export function parseResponseTemplate(text: string): Template {
  return parse(text, RESPONSE_SOURCES);
}

/**
 * Parses one template at `at` (the position of its `{{`) in a longer text, for fields that are not templates themselves
 * (Lua). Throws TemplateSyntaxError.
 */
export function parseTemplateAt(text: string, at: number): { reference: Reference; end: number } {
  const scanner = new Scanner(text, at + 2);
  scanner.spaces();
  const { part, end } = scanReference(scanner, RUN_SOURCES);
  return { reference: part, end };
}

/** Returns the paths that a template reads, in order: the reference itself, and its alternatives after `??`. */
export function pathsOf(reference: Reference): readonly Reference[] {
  return reference.or === undefined ? [reference] : [reference, ...reference.or];
}

/** Whether a reference reads the item of a loop or its index, which exist only inside a loop. */
export function readsItem({ source }: Reference): boolean {
  return source === 'item' || source === 'index';
}

/** Whether a string contains a template. */
export function hasTemplate(text: string): boolean {
  return text.includes('{{');
}

/** Whether a JSON value contains a text or a key with a template, at any depth. */
export function holdsTemplate(value: JsonValue): boolean {
  if (typeof value === 'string') return hasTemplate(value);
  if (typeof value !== 'object' || value === null) return false;
  if (Array.isArray(value)) return value.some(holdsTemplate);
  return Object.entries(value).some(([key, item]) => hasTemplate(key) || holdsTemplate(item));
}

/** A reference or the error of a template, with the field that contains it (`script`, `tool_args.urls[0]`). */
export type Found = { path: string; reference: Reference } | { path: string; error: TemplateSyntaxError };

/** Returns every path of every template at any depth of `value`, including keys, for validation. */
export function collectReferences(value: JsonValue | undefined, path = ''): Found[] {
  const found: Found[] = [];
  let references = 0;
  const checkTemplates = (text: string, at: string): void => {
    // A single error reports that there are too many: reporting 30,000 took seconds.
    if (references > MAX_REFERENCES || !hasTemplate(text)) return;
    try {
      for (const part of parseTemplate(text).parts) {
        for (const reference of typeof part === 'object' ? pathsOf(part) : []) {
          if (++references > MAX_REFERENCES) throw tooManyReferences(0);
          found.push({ path: at, reference });
        }
      }
    } catch (error) {
      if (!(error instanceof TemplateSyntaxError)) throw error;
      found.push({ path: at, error });
    }
  };
  const visit = (item: JsonValue | undefined, at: string): void => {
    if (typeof item === 'string') {
      checkTemplates(item, at);
    } else if (Array.isArray(item)) {
      for (const [index, inner] of item.entries()) visit(inner, `${at}[${index}]`);
    } else if (item !== null && typeof item === 'object') {
      for (const [key, inner] of Object.entries(item)) {
        const within = at === '' ? key : `${at}.${key}`;
        checkTemplates(key, within);
        visit(inner, within);
      }
    }
  };
  visit(value, path);
  return found;
}
