import type { Json } from '../json.ts';
import { decodedViews } from './decoded-views.ts';

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
  /** Returns the redacted text so far. The end is held back while a secret may begin there. */
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
 * base64url, in hex, URL-encoded, and escaped in JSON; from eight characters on, also with letters in another case, and
 * as base64 or hex of one of these. Each form is also found in URL escapes, HTML entities and backslash escapes, up to
 * three around each other, however they are written. Values shorter than four characters are ignored. The union of all
 * matches is removed, so that no part of a secret stays. The output contains no secret; input without one is unchanged.
 */
export function createRedactor(secrets: Iterable<string>): Redactor {
  const values = new Set([...secrets].flatMap(value => [value, value.trim()]).filter(isLongEnough));
  const forms = new Set([...values].flatMap(formsOf).filter(isLongEnough));
  if (forms.size === 0) {
    return { text: value => value, json: value => value, stream: () => ({ add: piece => piece, end: () => '' }) };
  }

  const search = searchFor([...forms].sort((a, b) => b.length - a.length));
  const mark = markApartFrom(forms);

  const text = (value: string) => cut(value, search(value), mark);
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
  const stream = () => redactedStream(text, search, forms);
  return { text, json: value => json(value), stream };
}

/** A match in a text: from `start` up to `end`. */
type Span = { start: number; end: number };
type Search = (value: string) => Span[];

/**
 * Returns a function that finds every form in a text and in its views, as spans of the text, in their order. The forms are
 * the longest first. One pattern of all forms in any letter case is matched in a tenth of the time of a group for each.
 */
function searchFor(longestFirst: readonly string[]): Search {
  const isDistinctive = (form: string) => form.length >= MIN_DISTINCTIVE_LENGTH;
  const patterns = [
    { forms: longestFirst.filter(isDistinctive), flags: 'i' },
    { forms: longestFirst.filter(form => !isDistinctive(form)), flags: '' },
  ].flatMap(({ forms, flags }) => {
    if (forms.length === 0) return [];
    const anyForm = forms.map(form => form.replace(/[\\^$.*+?()[\]{}|/-]/g, '\\$&')).join('|');
    // It matches the empty string wherever a form begins, so that overlapping forms are found, and captures the form.
    return [{ present: new RegExp(anyForm, flags), everywhere: new RegExp(`(?=(${anyForm}))`, `g${flags}`) }];
  });
  return value => {
    const spans: Span[] = [];
    for (const view of decodedViews(value)) {
      for (const { present, everywhere } of patterns) {
        if (!present.test(view.text)) continue;
        for (const { index, 1: form = '' } of view.text.matchAll(everywhere))
          spans.push({ start: view.startOf(index), end: view.endOf(index + form.length) });
      }
    }
    return spans.sort((a, b) => a.start - b.start || a.end - b.end);
  };
}

function redactedStream(text: (value: string) => string, search: Search, forms: ReadonlySet<string>): RedactedStream {
  // In any letter case, like the long forms: holding back too much does no harm.
  const known = [...forms].map(form => form.toLowerCase());
  const longest = Math.max(...known.map(({ length }) => length));
  let pending = '';
  return {
    add(piece) {
      pending += piece;
      let end = pending.length;
      for (const view of decodedViews(pending, { finished: true }))
        end = Math.min(end, view.startOf(beginningOf(known, longest, view.text)));
      // A match that extends beyond the end is held back completely; otherwise half of it would be returned.
      for (const span of search(pending).reverse()) if (span.start < end && span.end > end) end = span.start;
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
  // Lower case may change the length (İ). Then only the text before the last `longest` characters is certain.
  const first = Math.max(0, value.length - longest + 1);
  if (lower.length !== value.length) return first;
  for (let at = first; at < value.length; at += 1) {
    const tail = lower.slice(at);
    if (forms.some(form => form.length > tail.length && form.startsWith(tail))) return at;
  }
  return value.length;
}

const isLongEnough = (value: string) => value.length >= MIN_SECRET_LENGTH;

/** Replaces the union of all matches, which are in the order of their beginnings. */
function cut(value: string, spans: readonly Span[], mark: string): string {
  let result = '';
  let end = -1;
  for (const span of spans) {
    if (span.start > end) {
      if (end >= 0) result += mark;
      result += value.slice(Math.max(end, 0), span.start);
    }
    end = Math.max(end, span.end);
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
  const escaped = escapedForms(secret);
  const bytes = bytesForms(secret);
  // Double encodings are searched only for distinctive values, because short ones would match by accident.
  if (secret.length < MIN_DISTINCTIVE_LENGTH) return [...escaped, ...bytes];
  const [whole = ''] = base64Forms(Buffer.from(secret, 'utf8'));
  const inner = new Set([...escaped, whole, Buffer.from(secret, 'utf8').toString('hex')]);
  inner.delete(secret);
  return [...escaped, ...bytes, ...[...inner].flatMap(bytesForms)];
}

const HTML_ESCAPES: Readonly<Record<string, string>> = {
  '&': '&amp;',
  '<': '&lt;',
  '>': '&gt;',
  '"': '&quot;',
  "'": '&#39;',
};

/** Returns the text unchanged, and as it appears in JSON, HTML, a URL and a form. */
function escapedForms(secret: string): string[] {
  // A lone surrogate has no URL-encoded form.
  const encoded = encodeURIComponent(secret.toWellFormed());
  const form = new URLSearchParams({ '': secret }).toString().slice(1);
  return [
    secret,
    JSON.stringify(secret).slice(1, -1),
    secret.replace(/[&<>"']/g, character => HTML_ESCAPES[character] ?? character),
    ...[encoded, form].flatMap(text => [text, text.replace(/%[0-9A-F]{2}/g, code => code.toLowerCase())]),
  ];
}

/** Returns the bytes of a text in hex and base64. */
const bytesForms = (text: string): string[] => [
  Buffer.from(text, 'utf8').toString('hex'),
  ...base64Forms(Buffer.from(text, 'utf8')),
];

function base64Forms(bytes: Buffer): string[] {
  const whole = bytes.toString('base64');
  const standard = [whole, whole.replace(/=+$/, '')];
  if (bytes.length >= MIN_DISTINCTIVE_LENGTH) {
    // Three bytes are four characters, so a value inside a longer one has three encodings, depending on its position. Characters
    // that also encode neighboring bytes depend on these bytes, and are left out.
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
