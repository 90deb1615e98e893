/** A template in a text, such as `{{input.x ?? "}}"}}`. */
const TEMPLATE = /\{\{(?:\s*'[^']*'\s*|(?:"(?:[^"\\]|\\.)*"|[^{}"]|\{[^{}"]*\})*)\}\}/g;

export const holdsTemplate = (text: string): boolean => text.includes('{{');

/** Changes a text except its templates. */
export function mapAround(text: string, change: (literal: string) => string): string {
  let result = '';
  let from = 0;
  for (const found of text.matchAll(TEMPLATE)) {
    result += change(text.slice(from, found.index)) + found[0];
    from = found.index + found[0].length;
  }
  return result + change(text.slice(from));
}

/** Percent-encodes a text except its templates. */
export const encodeAround = (text: string): string => mapAround(text.toWellFormed(), encodeURIComponent);

/** Percent-decodes a text except its templates; null if the text is not valid percent-encoding. */
export function decodeAround(text: string): string | null {
  try {
    return mapAround(text, literal => decodeURIComponent(literal.replaceAll('+', ' ')));
  } catch {
    return null;
  }
}

const MASK = '\uE000';

/** Splits a text at a separator outside of templates. */
export function splitAround(text: string, separator: string): string[] {
  const templates: string[] = [];
  const masked = text.replaceAll(MASK, '').replace(TEMPLATE, template => {
    templates.push(template);
    return MASK;
  });
  return masked.split(separator).map(part => part.replaceAll(MASK, () => templates.shift() ?? ''));
}

/** Reads `a=1&b=2` as pairs; null if they would not be written back identically: `a` would become `a=`. */
export function readPairs(text: string): [string, string][] | null {
  if (text === '') return [];
  const pairs: [string, string][] = [];
  for (const part of splitAround(text, '&')) {
    const [name = '', ...rest] = splitAround(part, '=');
    if (rest.length === 0) return null;
    const read = [decodeAround(name), decodeAround(rest.join('='))] as const;
    if (read[0] === null || read[1] === null || read[0] === '') return null;
    pairs.push([read[0], read[1]]);
  }
  return pairs;
}
