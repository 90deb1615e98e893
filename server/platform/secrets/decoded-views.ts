/**
 * A text with one kind of escapes decoded, or with several in turn. Positions map back to the original text, so that a match in a
 * view can be cut out of the original.
 */
export type View = {
  text: string;
  /** Returns where in the original text the character at `index` of the view begins. */
  startOf(index: number): number;
  /** Returns where in the original text the character before `index` of the view ends. */
  endOf(index: number): number;
};

/** How many encodings around each other are decoded: HTML in JSON in a URL. */
const MAX_LEVELS = 3;
/** A text with escapes of all kinds has 39 views of three levels; beyond this many, deeper ones are left out. */
const MAX_VIEWS = 24;

/** One escape, decoded: the text between `from` and `to` represents `unit`. */
type Decoded = { from: number; to: number; unit: string };
type Decoder = {
  /** A character that every escape contains. */
  marker: string;
  /** Returns the decoded text. */
  plain(text: string): string;
  /** Returns the decoded units with their positions, at ten times the cost of `plain`. */
  units(text: string): Iterable<Decoded>;
};

/**
 * Returns the text and all its views (of URL escapes, HTML entities and backslash escapes), each distinct text once. `finished`:
 * leaves out an escape at the end that may be incomplete.
 */
export function decodedViews(text: string, { finished = false } = {}): View[] {
  const cut = (view: View) =>
    finished ? { ...view, text: view.text.slice(0, unfinishedEscapeStart(view.text)) } : view;
  const views: View[] = [cut({ text, startOf: index => index, endOf: index => index })];
  const seen = new Set(views.map(view => view.text));
  let level: readonly View[] = views.slice();
  for (let depth = 0; depth < MAX_LEVELS && level.length > 0; depth += 1) {
    const next: View[] = [];
    for (const view of level) {
      for (const decoder of DECODERS) {
        if (views.length >= MAX_VIEWS || !view.text.includes(decoder.marker)) continue;
        const decoded = cut(decodedView(view, decoder));
        if (seen.has(decoded.text)) continue;
        seen.add(decoded.text);
        next.push(decoded);
        views.push(decoded);
      }
    }
    level = next;
  }
  return views;
}

function decodedView(parent: View, { plain, units }: Decoder): View {
  // Few views contain a match, so positions are computed only when they are needed.
  let places: Places | undefined;
  const before = (index: number) => {
    places ??= placesOf(units(parent.text));
    return unitBefore(places, index);
  };
  return {
    text: plain(parent.text),
    startOf(index) {
      const found = before(index);
      if (found === null) return parent.startOf(index);
      const { unit, behind } = found;
      return parent.startOf(behind < unit.unit.length ? unit.from : unit.to + behind - unit.unit.length);
    },
    endOf(index) {
      if (index === 0) return parent.endOf(0);
      const found = before(index - 1);
      if (found === null) return parent.endOf(index);
      const { unit, behind } = found;
      return parent.endOf(behind < unit.unit.length ? unit.to : unit.to + behind + 1 - unit.unit.length);
    },
  };
}

/** The decoded units of a view in order, and the position in the view at which each begins. */
type Places = { units: Decoded[]; at: number[] };

function placesOf(decoded: Iterable<Decoded>): Places {
  const places: Places = { units: [], at: [] };
  let length = 0;
  let end = 0;
  for (const unit of decoded) {
    length += unit.from - end;
    places.at.push(length);
    places.units.push(unit);
    length += unit.unit.length;
    end = unit.to;
  }
  return places;
}

/** Returns the last unit that begins at or before `index`, and how far behind its beginning that is. */
function unitBefore({ units, at }: Places, index: number): { unit: Decoded; behind: number } | null {
  let [low, high] = [0, at.length];
  while (low < high) {
    const middle = (low + high) >> 1;
    if ((at[middle] ?? 0) <= index) low = middle + 1;
    else high = middle;
  }
  const unit = units[low - 1];
  return unit === undefined ? null : { unit, behind: index - (at[low - 1] ?? 0) };
}

const PERCENT_RUN = /(?:%[0-9A-Fa-f]{2})+/g;
/** One character as UTF-8, in one to four bytes. */
const PERCENT_CHARACTER =
  /%[0-7][0-9a-f]|%[cd][0-9a-f]%[89ab][0-9a-f]|%e[0-9a-f](?:%[89ab][0-9a-f]){2}|%f[0-7](?:%[89ab][0-9a-f]){3}/gi;

/** The escapes of URLs: `%XX`, as UTF-8. Bytes that are no UTF-8 are left as they are. */
const percentEscapes: Decoder = {
  marker: '%',
  plain: text =>
    text.replace(PERCENT_RUN, run => decoded(run) ?? run.replace(PERCENT_CHARACTER, found => decoded(found) ?? found)),
  *units(text) {
    for (const { index, 0: found } of text.matchAll(PERCENT_CHARACTER)) {
      const unit = decoded(found);
      if (unit !== null) yield { from: index, to: index + found.length, unit };
    }
  },
};

function decoded(escapes: string): string | null {
  try {
    return decodeURIComponent(escapes);
  } catch {
    return null;
  }
}

/** The named entities of HTML that stand for an ASCII character. */
const ENTITIES: ReadonlyMap<string, string> = new Map(
  Object.entries({
    amp: '&',
    AMP: '&',
    lt: '<',
    LT: '<',
    gt: '>',
    GT: '>',
    quot: '"',
    QUOT: '"',
    apos: "'",
    sol: '/',
    bsol: '\\',
    plus: '+',
    equals: '=',
    num: '#',
    excl: '!',
    dollar: '$',
    percnt: '%',
    ast: '*',
    midast: '*',
    lpar: '(',
    rpar: ')',
    comma: ',',
    period: '.',
    colon: ':',
    semi: ';',
    quest: '?',
    commat: '@',
    lsqb: '[',
    lbrack: '[',
    rsqb: ']',
    rbrack: ']',
    Hat: '^',
    lowbar: '_',
    UnderBar: '_',
    grave: '`',
    lcub: '{',
    lbrace: '{',
    rcub: '}',
    rbrace: '}',
    verbar: '|',
    vert: '|',
    Tab: '\t',
    NewLine: '\n',
    nbsp: '\u00a0',
  }),
);

/** Returns a decoder for escapes that are independent of each other; `unitOf` returns null for text that is not an escape. */
function decoderOf(
  marker: string,
  pattern: RegExp,
  unitOf: (...groups: (string | undefined)[]) => string | null,
): Decoder {
  return {
    marker,
    plain: text => text.replace(pattern, (found, a, b, c) => unitOf(a, b, c) ?? found),
    *units(text) {
      for (const { index, 0: found, 1: a, 2: b, 3: c } of text.matchAll(pattern)) {
        const unit = unitOf(a, b, c);
        if (unit !== null) yield { from: index, to: index + found.length, unit };
      }
    },
  };
}

const entities = decoderOf(
  '&',
  /&(?:#(\d{1,8});?|#[xX]([0-9A-Fa-f]{1,8});?|([A-Za-z]{2,8});)/g,
  (decimal, hex, name) => {
    if (name !== undefined) return ENTITIES.get(name) ?? null;
    const code = decimal === undefined ? Number.parseInt(hex ?? '', 16) : Number(decimal);
    return code <= 0x10ffff ? String.fromCodePoint(code) : null;
  },
);

const BACKSLASHED: Readonly<Record<string, string>> = { b: '\b', f: '\f', n: '\n', r: '\r', t: '\t' };

/** The escapes of JSON strings, and those of JavaScript for one byte. */
const backslashEscapes = decoderOf(
  '\\',
  /\\(?:u([0-9A-Fa-f]{4})|x([0-9A-Fa-f]{2})|(["'\\/bfnrt]))/g,
  (unit, byte, letter = '') => {
    const code = unit ?? byte;
    return code === undefined ? (BACKSLASHED[letter] ?? letter) : String.fromCharCode(Number.parseInt(code, 16));
  },
);

const DECODERS: readonly Decoder[] = [percentEscapes, entities, backslashEscapes];

/** An incomplete escape at the end of a text, or a multi-byte character with missing bytes. */
const UNFINISHED =
  /(?:%[c-f][0-9a-f](?:%[89ab][0-9a-f]){0,2})?(?:%[0-9a-f]?)?$|&(?:#x?[0-9a-f]{0,8}|[a-z]{0,8})$|\\(?:u[0-9a-f]{0,3}|x[0-9a-f]?)?$/i;

/** Longer than any match of `UNFINISHED`: only this much of the end of a text is searched. */
const LONGEST_UNFINISHED = 32;

/** Returns where the unfinished escape at the end of a text begins; its length if there is none. */
function unfinishedEscapeStart(text: string): number {
  const from = Math.max(0, text.length - LONGEST_UNFINISHED);
  const found = UNFINISHED.exec(text.slice(from));
  return found === null ? text.length : from + found.index;
}
