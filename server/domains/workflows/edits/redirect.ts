import type { Fields, Json, Step } from './draft.ts';
import { luaReferences, renameInTexts, renameInValue } from './references.ts';

/** The paths that replace `steps.<id>.result` and `steps.<id>.error`; null for no replacement. */
export type Target = { result: string | null; error: string | null };

/** Returns a step id that no text contains. References are renamed to this id first, because only the renaming parses templates and expressions. */
function unusedId(value: unknown): string {
  const text = JSON.stringify(value, (_, each) => (typeof each === 'bigint' ? String(each) : each)) ?? '';
  let n = 0;
  while (text.includes(`moved_${n}_`)) n += 1;
  return `moved_${n}_`;
}

const WHOLE = (id: string) =>
  new RegExp(
    `steps(?:\\s*\\.\\s*${id}|\\s*\\[\\s*["']${id}["']\\s*\\])(?:\\s*\\.\\s*(result|error)\\b|\\s*\\[\\s*["'](result|error)["']\\s*\\])`,
    'g',
  );

function inText(text: string, id: string, to: Target): string {
  if (!text.includes(id)) return text;
  return text.replace(WHOLE(id), (whole: string, dotted?: string, quoted?: string) => {
    const path = (dotted ?? quoted) === 'result' ? to.result : to.error;
    return path ?? whole;
  });
}

/** Returns a value with each of its texts and keys changed. */
function mapTexts(value: Json, change: (text: string) => string): Json {
  if (typeof value === 'string') return change(value);
  if (typeof value !== 'object' || value === null) return value;
  if (Array.isArray(value)) return (value as readonly Json[]).map(each => mapTexts(each, change));
  return Object.fromEntries(
    Object.entries(value as Fields).map(([key, each]) => [change(key), mapTexts(each, change)]),
  );
}

const mentions = (value: Json, text: string): boolean =>
  typeof value === 'string'
    ? value.includes(text)
    : typeof value === 'object' && value !== null
      ? Object.entries(value).some(([key, each]) => key.includes(text) || mentions(each as Json, text))
      : false;

/** A temporary step id for a combined result, which `leadToParts` replaces by the ids of the parts. */
const MOVED = 'moved_result_';

/**
 * Redirects readers of a combined result to its parts. `redirect` redirects them to a temporary path, and `toParts` replaces this path by the
 * paths of the parts. `whole`: a reader reads the step as a whole. `part`: a reader reads a value that is none of the parts.
 */
export function leadToParts<T extends Json>(
  redirect: (to: Target) => T | null,
  toParts: (text: string, path: string) => string,
): { ok: true; value: T } | { ok: false; reads: 'whole' | 'part' } {
  const path = `steps.${MOVED}.result`;
  const moved = redirect({ result: path, error: null });
  if (moved === null) return { ok: false, reads: 'whole' };
  const value = mapTexts(moved, text => toParts(text, path)) as T;
  return mentions(value, MOVED) ? { ok: false, reads: 'part' } : { ok: true, value };
}

/**
 * Redirects each reference to the result or the error of the step `id`. Returns null if a reference cannot be redirected, because Lua may read
 * the step or an expression reads the step as a whole. Returns the same object if there is no reference.
 */
export function redirectInStep(step: Step, id: string, to: Target): Step | null {
  if (luaReferences(step, id).length > 0) return null;
  const moved = unusedId(step);
  const renamed = renameInTexts(step, { from: id, to: moved });
  if (renamed === step) return step;
  const redirected = mapTexts(renamed, text => inText(text, moved, to)) as Step;
  return mentions(redirected, moved) ? null : redirected;
}

/** Redirects references in a value with templates, such as the output of a workflow. Returns null like `redirectInStep`. */
export function redirectInValue(value: Json, id: string, to: Target): Json | null {
  const moved = unusedId(value);
  const renamed = renameInValue(value, { from: id, to: moved });
  if (renamed === value) return value;
  const redirected = mapTexts(renamed, text => inText(text, moved, to));
  return mentions(redirected, moved) ? null : redirected;
}
