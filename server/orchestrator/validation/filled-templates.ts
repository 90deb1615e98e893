import type { JsonValue } from '../core/index.ts';
import { hasTemplate, holdsTemplate, parseTemplate, pathsOf, type Template } from '../languages/templates.ts';

/**
 * Whether `given` is `published` with each template of the run's input replaced by a value and nothing else changed:
 * the result that the same step would have had with another input. Values that contain templates themselves do not
 * count. Linear in the size of both.
 */
export function fillsTemplates(published: JsonValue | undefined, given: JsonValue | undefined): boolean {
  if (published === undefined || given === undefined) return published === given;
  if (typeof published === 'string') return published === given || fillsText(published, given);
  if (Array.isArray(published)) {
    if (!Array.isArray(given) || given.length !== published.length) return false;
    return published.every((item, at) => fillsTemplates(item, given[at]));
  }
  if (typeof published === 'object' && published !== null) {
    if (typeof given !== 'object' || given === null || Array.isArray(given)) return false;
    const names = Object.keys(published);
    if (names.length !== Object.keys(given).length) return false;
    return names.every(name => Object.hasOwn(given, name) && fillsTemplates(published[name], given[name]));
  }
  return published === given;
}

function fillsText(published: string, given: JsonValue): boolean {
  if (!hasTemplate(published) || holdsTemplate(given)) return false;
  const { parts, whole } = parseTemplate(published);
  const reads = parts.flatMap(part => (typeof part === 'string' ? [] : pathsOf(part)));
  if (reads.some(({ source }) => source !== 'input')) return false;
  return whole !== null || (typeof given === 'string' && holdsInOrder(given, parts));
}

/** Whether the text begins and ends like the template and contains its other literals in between, in order. */
function holdsInOrder(text: string, parts: Template['parts']): boolean {
  const [first, ...middle] = parts;
  const last = middle.pop();
  const opening = typeof first === 'string' ? first : '';
  const closing = typeof last === 'string' ? last : '';
  const end = text.length - closing.length;
  let at = opening.length;
  if (at > end || !text.startsWith(opening) || !text.endsWith(closing)) return false;
  for (const part of middle) {
    if (typeof part !== 'string') continue;
    at = endOfFirst(part, text, at, end);
    if (at === -1) return false;
  }
  return true;
}

/**
 * Returns the end of the first occurrence of `literal` in `text[from, to)`; -1 if there is none. Uses the algorithm of
 * Knuth, Morris and Pratt: `indexOf` takes up to the product of both lengths, and a user may choose a quarter of a
 * million characters for both.
 */
function endOfFirst(literal: string, text: string, from: number, to: number): number {
  const borders = new Int32Array(literal.length);
  for (let at = 1, matched = 0; at < literal.length; at++) {
    while (matched > 0 && literal[at] !== literal[matched]) matched = borders[matched - 1] ?? 0;
    if (literal[at] === literal[matched]) matched++;
    borders[at] = matched;
  }
  for (let at = from, matched = 0; at < to; at++) {
    while (matched > 0 && text[at] !== literal[matched]) matched = borders[matched - 1] ?? 0;
    if (text[at] === literal[matched]) matched++;
    if (matched === literal.length) return at + 1;
  }
  return -1;
}
