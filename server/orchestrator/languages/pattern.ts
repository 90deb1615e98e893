import { RE2JS } from 're2js';
import { ByteCache } from '../../platform/byte-cache.ts';
import { CACHE_LIMITS } from '../cache-limits.ts';

/**
 * Regular expressions of users. The time in which re2js matches is linear in the text, but its factor is the size of
 * the compiled program, which counted repetitions multiply: `(?:.?){1000}` 80 times over has 1,000 characters and took
 * 50 s on a text of the same length. So the size of a pattern is computed before it is compiled, is limited, and is
 * part of the cost of matching.
 */
export const MAX_PATTERN_CHARACTERS = 1_000;
/** The maximum number of instructions; compiling one takes up to 9 µs. */
export const MAX_PATTERN_SIZE = 3_200;
/**
 * The cost of a Unicode class: reading its tables, for both cases of each letter, takes as long as compiling this many
 * instructions.
 */
const UNICODE_CLASS_SIZE = 100;
const BYTES_PER_INSTRUCTION = 500;
/** `*` takes two instructions if its operand may be empty. */
const STAR_SIZE = 2;

const ESCAPE = /\\(?:[pP](?:\{[^}]*\}|.)|x\{[^}]*\}|[\s\S])/y;
const QUOTED = /\\Q([\s\S]*?)(?:\\E|$)/y;
const CLASS = /\[\^?\]?(?:\[:\^?\w+:\]|\\[\s\S]|[^\]\\])*\]/y;
const GROUP = /\((?:\?(?:P?<\w*>|[a-zA-Z-]*:|[a-zA-Z-]*(?=\))))?/y;
const COUNT = /\{(\d+)(,(\d*))?\}/y;

class SizeScanner {
  readonly #source: string;
  #at = 0;
  /** The sizes of the completed parts of each open group, outermost first, without the last atom. */
  readonly #sums = [0];
  #last = 0;

  constructor(source: string) {
    this.#source = source;
  }

  #match(pattern: RegExp): RegExpExecArray | null {
    pattern.lastIndex = this.#at;
    const found = pattern.exec(this.#source);
    if (found) this.#at = pattern.lastIndex;
    return found;
  }

  #add(size: number): void {
    this.#sums.push((this.#sums.pop() ?? 0) + size);
  }

  #atom(size: number): void {
    this.#add(this.#last);
    this.#last = size;
  }

  scan(): number {
    while (this.#at < this.#source.length) this.#token(this.#source[this.#at] ?? '');
    return this.#sums.reduce((sum, size) => sum + size, this.#last + 2);
  }

  #token(c: string): void {
    const quoted = c === '\\' ? this.#match(QUOTED) : null;
    if (quoted) {
      this.#add(quoted[1]?.length ?? 0);
      this.#atom(1);
    } else if ((c === '\\' && this.#match(ESCAPE)) || (c === '[' && this.#match(CLASS))) this.#atom(1);
    else if (c === '(' && this.#match(GROUP)) {
      this.#atom(0);
      this.#sums.push(0);
    } else {
      this.#operator(c);
    }
  }

  #operator(c: string): void {
    const count = c === '{' ? this.#match(COUNT) : null;
    if (count) {
      const [, least, isRange, most] = count;
      const always = Number(least);
      // `a{2,}` is compiled like aaa*, and `a{2,4}` like aa(a(a)?)?.
      const optional = isRange === undefined ? 0 : most ? Math.max(0, Number(most) - always) : 1;
      this.#last = Math.max(1, this.#last * always) + optional * (this.#last + STAR_SIZE);
      return;
    }
    this.#at++;
    if (c === ')' && this.#sums.length > 1) this.#last += (this.#sums.pop() ?? 0) + 2;
    else if (c === '*' || c === '+' || c === '?') this.#last += STAR_SIZE;
    else this.#atom(1);
  }
}

/**
 * Returns an upper bound of the number of instructions of a compiled pattern, in linear time and without compiling it.
 */
export function patternSize(source: string): number {
  const unicodeClasses = source.match(/\\[pP]/g)?.length ?? 0;
  return new SizeScanner(source).scan() + unicodeClasses * UNICODE_CLASS_SIZE;
}

const compiledPatterns = new ByteCache<RE2JS>(CACHE_LIMITS.patterns);

/**
 * Compiles a pattern, or returns it from the cache. Returns undefined if RE2 cannot read it or it exceeds the limits.
 */
export function compilePattern(source: string): RE2JS | undefined {
  const known = compiledPatterns.get(source);
  if (known) return known;
  if (source.length > MAX_PATTERN_CHARACTERS) return undefined;
  const size = patternSize(source);
  if (size > MAX_PATTERN_SIZE) return undefined;
  try {
    const compiled = RE2JS.compile(source);
    compiledPatterns.set(source, compiled, size * BYTES_PER_INSTRUCTION);
    return compiled;
  } catch {
    return undefined;
  }
}
