import {
  parseTemplate,
  pathsOf,
  type Reference,
  TemplateSyntaxError,
} from '@/server/orchestrator/languages/templates.ts';
import type { Json } from '../../../server/domains/workflows/edits/index.ts';
import { type CompletionData, exampleAt, plainPath } from '../code/example-values.ts';

/** Returns the value of a template in the last run; undefined where it is not known. */
function lastValueOf(reference: Reference, samples: CompletionData): Json | undefined {
  for (const { source, step, error, path } of pathsOf(reference)) {
    // The number of an item, and errors, are not kept.
    if (error || source === 'index' || source === 'response') continue;
    const start = source === 'steps' ? ['steps', step ?? '', 'result'] : [source];
    const value = exampleAt([...start, ...path.map(String)], samples);
    if (value !== null) return value;
  }
  return reference.fallback?.value as Json | undefined;
}

const textOf = (value: Json) => (typeof value === 'string' ? value : JSON.stringify(value));

/**
 * Returns what a text with templates was in the last run; templates whose values are not known stay as they are. Null where there is
 * nothing to show: no template, one that is not finished, or none that is known.
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
/** A name in brackets, or a text. */
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
