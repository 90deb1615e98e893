import { ByteCache } from '../../../platform/byte-cache.ts';
import { CACHE_LIMITS } from '../../cache-limits.ts';
import {
  MAX_REFERENCES,
  parseTemplateAt,
  pathsOf,
  type Reference,
  TemplateSyntaxError,
  tooManyReferences,
} from '../templates.ts';

/**
 * Prepares a script for Lua (docs/specification/steps.md#templates): a `{{…}}` becomes a reference to a bound value, so
 * that input can never become code. In code, the reference is the value itself. Inside a quoted or long string, the
 * string is cut and the value's text is concatenated. Comments are left unchanged. The scan also finds which results
 * the script can read, so that only those are sent to it: a chain of 1,000 scripts stays linear.
 */
export type PreparedScript = {
  /** The text that Lua compiles. It has the same lines as the author's script. */
  readonly source: string;
  /** The templates of `__values[1]`…, in order and without duplicates. In a string, the value is bound as text. */
  readonly bound: readonly { reference: Reference; as: 'value' | 'text' }[];
  /**
   * The steps that are read through the global `steps`; `all` if the script uses `steps` as a whole or reaches globals
   * by name.
   */
  readonly steps: ReadonlySet<string> | 'all';
  readonly readsInput: boolean;
  readonly readsRun: boolean;
  readonly readsItem: boolean;
  /** Malformed templates inside strings. */
  readonly errors: readonly TemplateSyntaxError[];
};

const IDENTIFIER = /[A-Za-z_][A-Za-z0-9_]*/y;
const NUMBER = /(?:0[xX][0-9a-fA-F.]*(?:[pP][+-]?[0-9]*)?|[0-9][0-9a-zA-Z.]*)/y;
/** Text that starts no relevant token. It is matched as a whole, since most of a script consists of it. */
const PLAIN = /[^A-Za-z0-9_"'[{-]+/y;
const LONG_OPEN = /\[(=*)\[/y;
const STATIC_STEP = /\s*(?:\.\s*([A-Za-z_][A-Za-z0-9_]*)|\[\s*(?:"([^"\\\n]*)"|'([^'\\\n]*)')\s*\])/y;
/** The beginnings of templates. Other tools' `{{name}}` in a string is text, and so is `{{item}}` outside a loop. */
const TEMPLATE = /^\{\{\s*(?:input|steps)\b/;
const TEMPLATE_IN_LOOP = /^\{\{\s*(?:input|steps|item|index)\b/;
/** Names through which a script can reach globals without naming them. */
const REFLECTIVE = new Set(['_G', '_ENV', 'load']);

class ScriptScanner {
  readonly #text: string;
  readonly #name: string;
  readonly #begins: RegExp;
  #at = 0;
  /** The position up to which the text has been copied to `out`. */
  #copied = 0;
  /** The number of templates, and of malformed ones. */
  #references = 0;
  #failures = 0;
  readonly #places = new Map<string, number>();
  readonly #out: string[] = [];
  readonly bound: { reference: Reference; as: 'value' | 'text' }[] = [];
  readonly errors: TemplateSyntaxError[] = [];
  readonly steps = new Set<string>();
  readonly names = new Set<string>();
  wholeSteps = false;

  constructor(text: string, name: string, inLoop: boolean) {
    this.#text = text;
    this.#name = name;
    this.#begins = inLoop ? TEMPLATE_IN_LOOP : TEMPLATE;
  }

  #match(pattern: RegExp): RegExpExecArray | null {
    pattern.lastIndex = this.#at;
    return pattern.exec(this.#text);
  }

  /** Copies the text before `from` and writes `replacement` instead of the text up to `end`. */
  #replace(from: number, end: number, replacement: string): void {
    this.#out.push(this.#text.slice(this.#copied, from), replacement);
    this.#copied = end;
    this.#at = end;
  }

  #bind(reference: Reference, as: 'value' | 'text'): string {
    const { fallback } = reference;
    const paths = pathsOf(reference).map(({ text }) => text);
    const key = `${as} ${paths.join(' ?? ')} ${fallback === undefined ? '' : JSON.stringify(fallback)}`;
    const place = this.#places.get(key) ?? this.bound.push({ reference, as });
    this.#places.set(key, place);
    return `${this.#name}[${place}]`;
  }

  scan(): string {
    while (this.#at < this.#text.length) this.#token();
    this.#out.push(this.#text.slice(this.#copied));
    return this.#out.join('');
  }

  #token(): void {
    const c = this.#text[this.#at];
    if (c === '"' || c === "'") this.#quoted(c);
    else if (c === '[') this.#bracket();
    else if (c === '-' && this.#text[this.#at + 1] === '-') this.#comment();
    else if (c === '{' && this.#text[this.#at + 1] === '{') this.#codeTemplate();
    else {
      const word = this.#match(IDENTIFIER);
      if (word) this.#identifier(word[0]);
      else this.#at += this.#match(NUMBER)?.[0].length || this.#match(PLAIN)?.[0].length || 1;
    }
  }

  #comment(): void {
    this.#at += 2;
    const long = this.#match(LONG_OPEN);
    const end = this.#text.indexOf(long ? `]${long[1]}]` : '\n', this.#at);
    this.#at = end === -1 ? this.#text.length : end + (long ? (long[1]?.length ?? 0) + 2 : 0);
  }

  /** Replaces `{{input.x}}` in code. Braces that are not a template are Lua: `{{1, 2}, {3}}` is a table of tables. */
  #codeTemplate(): void {
    const from = this.#at;
    const found = this.#template(from, false);
    if (found) this.#replace(from, found.end, `(${this.#bind(found.reference, 'value')})`);
    else this.#at++;
  }

  #template(at: number, report: boolean): { reference: Reference; end: number } | undefined {
    const begins = this.#begins.test(this.#text.slice(at, at + 40));
    if (!begins || this.#failures >= MAX_FAILURES) return undefined;
    try {
      const found = parseTemplateAt(this.#text, at);
      this.#references += pathsOf(found.reference).length;
      if (this.#references <= MAX_REFERENCES) return found;
      this.#failures = MAX_FAILURES;
      this.errors.push(tooManyReferences(at));
      return undefined;
    } catch (error) {
      if (!(error instanceof TemplateSyntaxError)) throw error;
      this.#failures += 1;
      if (report) this.errors.push(error);
      // The text after this template is not read: `{{input.x}}` in code would silently become a table of tables.
      if (this.#failures === MAX_FAILURES)
        this.errors.push(new TemplateSyntaxError(`more than ${MAX_FAILURES} malformed templates`, at));
      return undefined;
    }
  }

  #quoted(quote: string): void {
    const from = this.#at++;
    const cuts: { at: number; end: number; reference: Reference }[] = [];
    while (this.#at < this.#text.length && this.#text[this.#at] !== quote) {
      const c = this.#text[this.#at];
      if (c === '\n') return; // not closed: Lua says so
      const found = c === '{' && this.#text[this.#at + 1] === '{' ? this.#template(this.#at, true) : undefined;
      if (found) {
        cuts.push({ at: this.#at, ...found });
        this.#at = found.end;
      } else this.#at += c === '\\' ? 2 : 1;
    }
    if (this.#at >= this.#text.length) return;
    this.#join(from, this.#at + 1, cuts, () => quote, quote);
  }

  #bracket(): void {
    const open = this.#match(LONG_OPEN);
    if (!open) {
      this.#at++;
      return;
    }
    const from = this.#at;
    const close = `]${open[1]}]`;
    const end = this.#text.indexOf(close, from + open[0].length);
    if (end === -1) {
      this.#at = this.#text.length;
      return;
    }
    const cuts: { at: number; end: number; reference: Reference }[] = [];
    let at = this.#text.indexOf('{{', from);
    while (at !== -1 && at < end) {
      const found = this.#template(at, true);
      if (found && found.end <= end) cuts.push({ at, ...found });
      at = this.#text.indexOf('{{', found ? found.end : at + 1);
    }
    // Lua drops a line break immediately after `[[`. If one follows a template, it is added again.
    const reopen = (rest: number) => (/[\r\n]/.test(this.#text[rest] ?? '') ? `"\\n"..${open[0]}` : open[0]);
    this.#join(from, end + close.length, cuts, reopen, close);
  }

  /**
   * Turns `"a {{x}} b"` into `("a "..__values[1].." b")`. The parentheses preserve calls like `f"…"` and precedence.
   */
  #join(
    from: number,
    end: number,
    cuts: readonly { at: number; end: number; reference: Reference }[],
    open: (rest: number) => string,
    close: string,
  ): void {
    if (cuts.length === 0) {
      this.#at = end;
      return;
    }
    this.#replace(from, from, '(');
    for (const cut of cuts) {
      this.#replace(cut.at, cut.end, `${close}..${this.#bind(cut.reference, 'text')}..${open(cut.end)}`);
    }
    this.#replace(end, end, ')');
  }

  #identifier(word: string): void {
    const from = this.#at;
    this.#at += word.length;
    if (this.#isMember(from)) return;
    if (word !== 'steps') {
      this.names.add(word);
      return;
    }
    const step = this.#match(STATIC_STEP);
    const id = step && (step[1] ?? step[2] ?? step[3]);
    if (id === null || id === undefined) this.wholeSteps = true;
    else {
      this.steps.add(id);
      this.#at += step?.[0].length ?? 0;
    }
  }

  /** Whether the name at `from` is a field (`x.steps`, `x:steps`) and not a global. `..` joins strings. */
  #isMember(from: number): boolean {
    let at = from - 1;
    while (at >= 0 && /\s/.test(this.#text[at] ?? '')) at--;
    const before = this.#text[at];
    return before === ':' ? this.#text[at - 1] !== ':' : before === '.' && this.#text[at - 1] !== '.';
  }
}

/**
 * The maximum number of malformed templates that are scanned. Each may be read to the script's end before the error is
 * found, so without a limit the time would be quadratic.
 */
const MAX_FAILURES = 100;

function prepare(text: string, inLoop: boolean): PreparedScript {
  let name = '__values';
  while (text.includes(name)) name += '_';
  const scanner = new ScriptScanner(text, name, inLoop);
  const body = scanner.scan();
  const reflective = [...scanner.names].some(used => REFLECTIVE.has(used));
  return {
    source: scanner.bound.length > 0 ? `local ${name} = ...; ${body}` : body,
    bound: scanner.bound,
    steps: scanner.wholeSteps || reflective ? 'all' : scanner.steps,
    readsInput: reflective || scanner.names.has('input'),
    readsRun: reflective || scanner.names.has('run'),
    readsItem: reflective || scanner.names.has('item') || scanner.names.has('index'),
    errors: scanner.errors,
  };
}

const preparedScripts = new ByteCache<PreparedScript>(CACHE_LIMITS.scripts);
const preparedInLoops = new ByteCache<PreparedScript>(CACHE_LIMITS.scriptsInLoops);
const BINDING_BYTES = 400;
const SCRIPT_BYTES = 1_000;

/** Prepares a script, or returns it from the cache. `inLoop`: its templates may also read `item` and `index`. */
export function prepareScript(text: string, inLoop = false): PreparedScript {
  const cache = inLoop ? preparedInLoops : preparedScripts;
  const known = cache.get(text);
  if (known) return known;
  const prepared = prepare(text, inLoop);
  const texts = 2 * (text.length + prepared.source.length);
  cache.set(text, prepared, SCRIPT_BYTES + texts + BINDING_BYTES * prepared.bound.length);
  return prepared;
}
