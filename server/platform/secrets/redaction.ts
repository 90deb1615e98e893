import type { Json } from '../json.ts';

/** Removes known secrets from foreign text before it is stored, logged or shown. */
export type Redactor = {
  text(value: string): string;
  /** Redacts strings and names of fields; a number that is itself a secret becomes the mark. */
  json(value: Json): Json;
  /** Starts a text that arrives in pieces. */
  stream(): RedactedStream;
};

/** A text that arrives in pieces. The returned pieces, joined, contain no secret, wherever the text was split. */
export type RedactedStream = {
  /** Returns what is certain so far: the end of the text is held back while a secret may begin there. */
  add(piece: string): string;
  /** Returns the rest. */
  end(): string;
};

/** Shorter values (a flag, a port, a country) occur in every text: removing them would shred it and hide nothing. */
export const MIN_SECRET_LENGTH = 4;
/**
 * From this length on, base64 is also found in the middle of longer base64, as in `Basic`, and every form in any letter
 * case; shorter values would match by accident (`Main`, `Test`).
 */
const MIN_DISTINCTIVE_LENGTH = 8;
/** jsonb accepts a hundred levels, so a value this deep is refused later anyway; here it must not exhaust the stack. */
const MAX_DEPTH = 1000;

/**
 * Creates a redactor for these values (docs/specification/connections.md#redaction): unchanged, as base64 and
 * base64url, in hex, URL-encoded, and escaped in JSON; from eight characters on, also with letters in another case.
 * Values shorter than four characters are ignored. All matches are found in one pass, and the union of overlapping ones
 * is removed, so that no part of a secret stays. The output contains no secret; input without one is unchanged.
 */
export function createRedactor(secrets: Iterable<string>): Redactor {
  const values = new Set([...secrets].flatMap(value => [value, value.trim()]).filter(isLongEnough));
  const forms = new Set([...values].flatMap(formsOf).filter(isLongEnough));
  if (forms.size === 0) {
    return { text: value => value, json: value => value, stream: () => ({ add: piece => piece, end: () => '' }) };
  }

  const longestFirst = [...forms].sort((a, b) => b.length - a.length);
  const anyForm = longestFirst.map(patternOf).join('|');
  const present = new RegExp(anyForm);
  const everywhere = new RegExp(`(?=(${anyForm}))`, 'g');
  const mark = markApartFrom(forms);

  const text = (value: string) => (present.test(value) ? cut(value, everywhere, mark) : value);
  const json = (value: Json, depth = 0): Json => {
    if (typeof value === 'string') return text(value);
    if (typeof value === 'number' || typeof value === 'bigint') return values.has(String(value)) ? mark : value;
    if (typeof value !== 'object' || value === null) return value;
    if (depth > MAX_DEPTH) return mark;
    if (Array.isArray(value)) return value.map(item => json(item, depth + 1));
    const fields = new Map<string, Json>();
    for (const [name, field] of Object.entries(value)) fields.set(freeName(text(name), fields), json(field, depth + 1));
    return Object.fromEntries(fields);
  };
  const stream = () => redactedStream(text, everywhere, forms);
  return { text, json: value => json(value), stream };
}

function redactedStream(
  text: (value: string) => string,
  everywhere: RegExp,
  forms: ReadonlySet<string>,
): RedactedStream {
  // In any letter case, like the long forms: holding back too much does no harm.
  const known = [...forms].map(form => form.toLowerCase());
  const longest = Math.max(...known.map(({ length }) => length));
  let pending = '';
  return {
    add(piece) {
      pending += piece;
      let end = beginningOf(known, longest, pending);
      // A match that extends beyond the end is held back completely: half of it would pass.
      for (const { index, 1: form = '' } of [...pending.matchAll(everywhere)].reverse()) {
        if (index < end && index + form.length > end) end = index;
      }
      const certain = text(pending.slice(0, end));
      pending = pending.slice(end);
      return certain;
    },
    end() {
      const rest = text(pending);
      pending = '';
      return rest;
    },
  };
}

/**
 * Returns the first position from which a text may be the incomplete beginning of a form; the length of
 * the text if there is none.
 */
function beginningOf(forms: readonly string[], longest: number, value: string): number {
  const lower = value.toLowerCase();
  // Lower case may have another length (İ): then only text that is far enough back is certain.
  const first = Math.max(0, value.length - longest + 1);
  if (lower.length !== value.length) return first;
  for (let at = first; at < value.length; at += 1) {
    const tail = lower.slice(at);
    if (forms.some(form => form.length > tail.length && form.startsWith(tail))) return at;
  }
  return value.length;
}

function patternOf(form: string): string {
  const exact = form.replace(/[\\^$.*+?()[\]{}|/-]/g, '\\$&');
  return form.length >= MIN_DISTINCTIVE_LENGTH ? `(?i:${exact})` : exact;
}

const isLongEnough = (value: string) => value.length >= MIN_SECRET_LENGTH;

/**
 * Replaces the union of all matches. `everywhere` matches the empty string wherever a form
 * begins, and captures the form.
 */
function cut(value: string, everywhere: RegExp, mark: string): string {
  let result = '';
  let end = -1;
  for (const { index, 1: form = '' } of value.matchAll(everywhere)) {
    if (index > end) {
      if (end >= 0) result += mark;
      result += value.slice(Math.max(end, 0), index);
    }
    end = Math.max(end, index + form.length);
  }
  return end < 0 ? value : `${result}${mark}${value.slice(end)}`;
}

/** Two names that become the same text by redaction stay distinct, so that no field is lost. */
function freeName(name: string, taken: ReadonlyMap<string, unknown>): string {
  for (let at = 1; ; at += 1) {
    const candidate = at === 1 ? name : `${name} (${at})`;
    if (!taken.has(candidate)) return candidate;
  }
}

function formsOf(secret: string): string[] {
  // A lone surrogate has no URL-encoded form.
  const encoded = encodeURIComponent(secret.toWellFormed());
  const form = new URLSearchParams({ '': secret }).toString().slice(1);
  return [
    secret,
    JSON.stringify(secret).slice(1, -1),
    ...[encoded, form].flatMap(text => [text, text.replace(/%[0-9A-F]{2}/g, code => code.toLowerCase())]),
    Buffer.from(secret, 'utf8').toString('hex'),
    ...base64Forms(Buffer.from(secret, 'utf8')),
  ];
}

function base64Forms(bytes: Buffer): string[] {
  const whole = bytes.toString('base64');
  const standard = [whole, whole.replace(/=+$/, '')];
  if (bytes.length >= MIN_DISTINCTIVE_LENGTH) {
    // Three bytes are four characters, so a value inside a longer one has three encodings, depending on its position.
    // The characters that it shares with neighboring bytes depend on those, and are left out.
    for (const [before, shared] of [
      [0, 0],
      [1, 2],
      [2, 3],
    ] as const) {
      const all = Math.floor(((before + bytes.length) * 8) / 6);
      standard.push(
        Buffer.concat([Buffer.alloc(before), bytes])
          .toString('base64')
          .slice(shared, all),
      );
    }
  }
  return standard.flatMap(text => [text, text.replaceAll('+', '-').replaceAll('/', '_')]);
}

/**
 * Returns a mark whose first and last characters occur in no form, and which is part of none, so that
 * inserting it creates no new match.
 */
function markApartFrom(forms: ReadonlySet<string>): string {
  const known = [...forms].map(form => form.toLowerCase());
  const all = known.join('');
  const apart = (mark: string) =>
    !known.some(form => mark.includes(form)) && !all.includes(mark.slice(0, 1)) && !all.includes(mark.slice(-1));
  for (const mark of ['[redacted]', '***', '•••']) if (apart(mark)) return mark;
  for (let code = 0x2580; ; code += 1) if (apart(String.fromCodePoint(code))) return String.fromCodePoint(code);
}
