import { memberPath } from '../../ui/json-path.ts';
import type { CodeLanguage } from '../code/languages.ts';

/** The names and list indexes that lead to a value, such as `['steps', 'order', 'result', 'lines', 0]`. */
export type ValuePath = readonly (string | number)[];

/** The media type of a dragged path. */
export const PATH_MIME = 'application/x-baton-path';

/** Returns a path as text, which is the same in code and in templates; Lua counts list entries from 1. */
export function pathText([root = '', ...rest]: ValuePath, language: CodeLanguage): string {
  const parts = language === 'lua' ? rest.map(part => (typeof part === 'number' ? part + 1 : part)) : rest;
  return parts.reduce<string>(memberPath, String(root));
}

/**
 * Returns the text to insert for a value after the text `before`: a path in code and inside a template, otherwise a template. In JSON,
 * quotes are added as needed.
 */
export function insertedText(path: ValuePath, language: CodeLanguage, before: string): string {
  const text = pathText(path, language);
  if (language === 'lua' || language === 'cel') return text;
  const isInTemplate = before.lastIndexOf('{{') > before.lastIndexOf('}}');
  const written = isInTemplate ? text : `{{${text}}}`;
  if (language === 'text') return written;
  const json = JSON.stringify(written);
  return isInString(before) ? json.slice(1, -1) : json;
}

/** Returns whether the JSON `before` ends inside a string. */
function isInString(before: string): boolean {
  let isOpen = false;
  for (let at = 0; at < before.length; at++) {
    const character = before[at];
    if (character === '\\' && isOpen) at++;
    else if (character === '"') isOpen = !isOpen;
  }
  return isOpen;
}

/** Parses a dragged path; null for any other text. */
export function readPath(text: string): ValuePath | null {
  try {
    const path: unknown = JSON.parse(text);
    const isPath = Array.isArray(path) && path.every(part => typeof part === 'string' || typeof part === 'number');
    return isPath && path.length > 0 ? path : null;
  } catch {
    return null;
  }
}
