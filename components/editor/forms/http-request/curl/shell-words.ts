/** The words of a command line, or the problem in it. `variables` lists the shell variables, which are not expanded. */
export type ShellWords = { words: string[]; variables: string[] } | { problem: string };

/** The maximum length of a command. People do not write longer requests. */
export const MAX_COMMAND_LENGTH = 1_000_000;

/**
 * Splits the first command of a text like a shell: single, double and `$'…'` quotes, backslashes, continued lines. A
 * command that was copied for Windows (`^"`, `^` at ends of lines) is split as by cmd.exe and curl.exe.
 */
export function splitCommand(text: string): ShellWords {
  if (text.length > MAX_COMMAND_LENGTH) return { problem: 'The command is too long.' };
  return isForWindows(text) ? new WindowsWords(text).read() : new PosixWords(text).read();
}

/** Returns whether words begin with `^"` or lines end with a caret. */
const isForWindows = (text: string): boolean =>
  /^\s*curl(?:\.exe)?\s+(?:-[\w-]+\s+)*\^"/.test(text) || (/\s\^[ \t]*\r?$/m.test(text) && !/\\\r?\n/.test(text));

const ENDS: ReadonlySet<string> = new Set(['|', ';', '&', '<', '>', '(', ')']);
const ESCAPED: Readonly<Record<string, string>> = {
  a: '\x07',
  b: '\b',
  e: '\x1b',
  E: '\x1b',
  f: '\f',
  n: '\n',
  r: '\r',
  t: '\t',
  v: '\v',
};
const CODES = /^(?:x([0-9a-fA-F]{1,2})|u([0-9a-fA-F]{1,4})|U([0-9a-fA-F]{1,8})|([0-7]{1,3}))/;

class PosixWords {
  readonly #text: string;
  #at = 0;
  #word: string | null = null;
  readonly #words: string[] = [];
  readonly #variables: string[] = [];

  constructor(text: string) {
    this.#text = text.replaceAll('\r\n', '\n');
  }

  read(): ShellWords {
    while (this.#at < this.#text.length) {
      const c = this.#text[this.#at] ?? '';
      this.#at++;
      if (c === ' ' || c === '\t') this.#end();
      else if (c === '\n') {
        this.#end();
        if (this.#words.length > 0) break;
      } else if (ENDS.has(c) || (c === '#' && this.#word === null)) break;
      else if (!this.#part(c)) return { problem: `A quote (${c}) is not closed.` };
    }
    this.#end();
    return { words: this.#words, variables: [...new Set(this.#variables)] };
  }

  #end(): void {
    if (this.#word !== null) this.#words.push(this.#word);
    this.#word = null;
  }

  #add(text: string): true {
    this.#word = (this.#word ?? '') + text;
    return true;
  }

  /** Reads a part of a word that begins with `c`; returns false for an unclosed quote. */
  #part(c: string): boolean {
    if (c === "'") return this.#single();
    if (c === '"') return this.#double();
    if (c === '$') return this.#dollar(true);
    if (c !== '\\') return this.#add(c);
    const next = this.#text[this.#at];
    this.#at++;
    // A backslash at the end of a line continues the line; at the end of the text, it is literal.
    return next === '\n' ? true : this.#add(next ?? '\\');
  }

  #single(): boolean {
    const end = this.#text.indexOf("'", this.#at);
    if (end === -1) return false;
    this.#add(this.#text.slice(this.#at, end));
    this.#at = end + 1;
    return true;
  }

  #double(): boolean {
    this.#add('');
    for (;;) {
      const c = this.#text[this.#at];
      if (c === undefined) return false;
      this.#at++;
      if (c === '"') return true;
      if (c === '$') this.#dollar(false);
      else if (c !== '\\') this.#add(c);
      else {
        const next = this.#text[this.#at] ?? '';
        this.#at++;
        if (next !== '\n') this.#add(/["\\$`]/.test(next) ? next : `\\${next}`);
      }
    }
  }

  /** Reads `$'…'` or a variable. The value of a variable is unknown, so its name is kept. */
  #dollar(mayQuote: boolean): boolean {
    const rest = this.#text.slice(this.#at, this.#at + 200);
    if (mayQuote && rest.startsWith("'")) return this.#ansi();
    const name = /^(?:\{[^}\n]{0,100}\}|[A-Za-z_]\w*|\([^)\n]{0,100}\))/.exec(rest)?.[0] ?? '';
    if (name !== '') this.#variables.push(`$${name}`);
    this.#at += name.length;
    return this.#add(`$${name}`);
  }

  #ansi(): boolean {
    this.#at++;
    this.#add('');
    for (;;) {
      const c = this.#text[this.#at];
      if (c === undefined) return false;
      this.#at++;
      if (c === "'") return true;
      this.#add(c === '\\' ? this.#escape() : c);
    }
  }

  #escape(): string {
    const code = CODES.exec(this.#text.slice(this.#at, this.#at + 9));
    if (code !== null) {
      this.#at += code[0].length;
      const [, hex, short, long, octal] = code;
      const point =
        octal === undefined ? Number.parseInt(hex ?? short ?? long ?? '', 16) : Number.parseInt(octal, 8) & 255;
      return point <= 0x10ffff ? String.fromCodePoint(point) : '\ufffd';
    }
    const c = this.#text[this.#at] ?? '';
    this.#at++;
    return ESCAPED[c] ?? (/["'\\?]/.test(c) ? c : `\\${c}`);
  }
}

/** cmd.exe removes the carets; then curl.exe reads quotes and the backslashes before them. */
class WindowsWords {
  readonly #text: string;

  constructor(text: string) {
    this.#text = text.replaceAll('\r\n', '\n');
  }

  read(): ShellWords {
    const line = this.#line();
    const words: string[] = [];
    let word: string | null = null;
    let inQuotes = false;
    for (let at = 0; at < line.length; at++) {
      const c = line[at] ?? '';
      const slashes = c === '\\' ? (/^\\+(?=")/.exec(line.slice(at))?.[0].length ?? 0) : 0;
      if (slashes > 0) {
        word = (word ?? '') + '\\'.repeat(Math.floor(slashes / 2));
        at += slashes - 1;
        if (slashes % 2 === 1) {
          word += '"';
          at++;
        }
      } else if (c === '"' && inQuotes && line[at + 1] === '"') {
        word = `${word ?? ''}"`;
        at++;
      } else if (c === '"') {
        inQuotes = !inQuotes;
        word ??= '';
      } else if (!inQuotes && /\s/.test(c)) {
        if (word !== null) words.push(word);
        word = null;
      } else {
        word = (word ?? '') + c;
      }
    }
    if (inQuotes) return { problem: 'A quote (") is not closed.' };
    if (word !== null) words.push(word);
    return { words, variables: [] };
  }

  /** Returns the command up to the first line that is not continued, without its carets. */
  #line(): string {
    let line = '';
    for (let at = 0; at < this.#text.length; at++) {
      const c = this.#text[at] ?? '';
      if (c === '^') {
        const next = this.#text[at + 1] ?? '';
        at++;
        // A caret followed by an empty line is a line break in a value, as browsers write it.
        if (next !== '\n') line += next;
        else if (this.#text[at + 1] === '\n') {
          line += '\n';
          at++;
        }
      } else if (c === '\n' && line.trim() !== '') break;
      else line += c;
    }
    return line;
  }
}
