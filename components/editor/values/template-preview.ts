import {
  parseTemplate,
  pathsOf,
  type Reference,
  TemplateSyntaxError,
} from '@/server/orchestrator/languages/templates.ts';
import type { Json } from '../../../server/domains/workflows/edits/index.ts';
import { type CompletionData, exampleAt, plainPath } from '../code/example-values.ts';

/** Returns the value of a template in the last run; undefined if unknown. */
function lastValueOf(reference: Reference, samples: CompletionData): Json | undefined {
  for (const { source, step, error, path } of pathsOf(reference)) {
    // Runs keep neither item numbers nor errors.
    if (error || source === 'index' || source === 'response') continue;
    const start = source === 'steps' ? ['steps', step ?? '', 'result'] : [source];
    const value = exampleAt([...start, ...path.map(String)], samples);
    if (value !== null) return value;
  }
  return reference.fallback?.value as Json | undefined;
}

const textOf = (value: Json) => (typeof value === 'string' ? value : JSON.stringify(value));

/**
 * Returns a text with its templates replaced by their values in the last run. A template with an unknown value stays unchanged. Returns
 * null if the text has no template, an unfinished template, or no template with a known value.
 */
export function previewOf(text: string, samples: CompletionData): string | null {
  if (!text.includes('{{')) return null;
  try {
    const { parts } = parseTemplate(text);
    let isKnown = false;
    const shown = parts.map(part => {
      if (typeof part === 'string') return part;
      const value = lastValueOf(part, samples);
      if (value === undefined) return `{{${part.text}}}`;
      isKnown = true;
      return textOf(value);
    });
    return isKnown ? shown.join('') : null;
  } catch (error) {
    if (error instanceof TemplateSyntaxError) return null;
    throw error;
  }
}

const PATH = /(?<![\w."\]])(?:input|steps|item)(?:\.[A-Za-z_]\w*|\[\d+\]|\["[^"\]]*"\])+/g;
/** Matches a name in brackets or a quoted text. */
const NAME_OR_TEXT = /\["(?:[^"\\]|\\.)*"\]|"(?:[^"\\]|\\.)*"|'(?:[^'\\]|\\.)*'/g;
const MAX_PATHS = 5;

/** Returns the paths that an expression reads, each with its value in the last run. */
export function pathsRead(expression: string, samples: CompletionData): { path: string; value: string }[] {
  const withoutTexts = expression.replaceAll(NAME_OR_TEXT, found => (found.startsWith('[') ? found : '""'));
  const paths = [...new Set(withoutTexts.match(PATH) ?? [])];
  return paths.slice(0, MAX_PATHS).flatMap(path => {
    const value = exampleAt(plainPath(path) ?? [], samples);
    return value === null ? [] : [{ path, value: textOf(value) }];
  });
}
