import { memberPath } from '../../ui/json-path.ts';
import type { CodeLanguage } from '../code/languages.ts';

/** Names and places in lists that lead to a value, such as `['steps', 'order', 'result', 'lines', 0]`. */
export type ValuePath = readonly (string | number)[];

/** The type under which a path is dragged. */
export const PATH_MIME = 'application/x-baton-path';

/** Returns a path as it is written in code and in templates alike; Lua counts the entries of a list from 1. */
export function pathText([root = '', ...rest]: ValuePath, language: CodeLanguage): string {
  const parts = language === 'lua' ? rest.map(part => (typeof part === 'number' ? part + 1 : part)) : rest;
  return parts.reduce<string>(memberPath, String(root));
}

/**
 * Returns what is inserted for a value behind the text `before`: a path in code and within a template, otherwise a template; in JSON
 * with the quotes that it needs.
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

/** Whether JSON that begins with `before` goes on within a string. */
function isInString(before: string): boolean {
  let isOpen = false;
  for (let at = 0; at < before.length; at++) {
    const character = before[at];
    if (character === '\\' && isOpen) at++;
    else if (character === '"') isOpen = !isOpen;
  }
  return isOpen;
}

/** Reads a path that is dragged; null for anything else. */
export function readPath(text: string): ValuePath | null {
  try {
    const path: unknown = JSON.parse(text);
    const isPath = Array.isArray(path) && path.every(part => typeof part === 'string' || typeof part === 'number');
    return isPath && path.length > 0 ? path : null;
  } catch {
    return null;
  }
}
