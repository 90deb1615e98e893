'use client';
import { useEffect, useState } from 'react';
import { useDebounced } from '../../ui/use-debounced.ts';
import type { CompletionData } from '../code/example-values.ts';
import type { CodeLanguage } from '../code/languages.ts';
import { useValues } from '../code/use-completion.tsx';
import { pathsRead, previewOf } from './template-preview.ts';

/**
 * Returns the last values that a field can read, reloaded when `text` changes; null until they are loaded, and for an
 * empty text.
 */
export function useSamples(step: string, text: string): CompletionData | null {
  const load = useValues(step);
  const [samples, setSamples] = useState<CompletionData | null>(null);
  useEffect(() => {
    if (load === null || text === '') return;
    let isShown = true;
    void load().then(values => {
      if (isShown) setSamples(values.samples);
    });
    return () => {
      isShown = false;
    };
  }, [load, text]);
  return samples;
}

type Props = { step: string; text: string; language: CodeLanguage };

/**
 * Shows a text with its templates replaced by the last values of the steps, or the last values that an expression reads. Renders nothing
 * if they are unknown.
 */
export function ValuePreview({ step, text, language }: Props) {
  // Debounced, so that not every key press loads values.
  const settled = useDebounced(text);
  const isExpression = language === 'cel';
  const reads = isExpression ? /\b(?:input|steps|item)\b/.test(settled) : settled.includes('{{');
  const samples = useSamples(step, reads ? settled : '');
  if (samples === null || !reads || language === 'lua') return null;
  const lines = isExpression
    ? pathsRead(settled, samples).map(({ path, value }) => ({ name: path, value }))
    : [{ name: '', value: previewOf(settled, samples) ?? '' }];
  if (lines.every(({ value }) => value === '')) return null;
  return (
    <dl aria-label="With the last values" className="rounded-md bg-sunken px-2 py-1.5 text-xs">
      {lines.map(({ name, value }) => (
        <div key={name} className="flex items-baseline gap-1.5">
          <dt className="shrink-0 text-muted">
            {name === '' ? 'With the last values:' : <code className="font-mono">{name} =</code>}
          </dt>
          <dd className="line-clamp-3 min-w-0 font-mono wrap-anywhere whitespace-pre-wrap text-ok">{value}</dd>
        </div>
      ))}
    </dl>
  );
}
