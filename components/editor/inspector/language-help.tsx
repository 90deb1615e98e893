'use client';
import { EXAMPLE_DATA, LANGUAGE_HELP, type LanguageName } from '@/server/orchestrator/languages/language-help.ts';
import { CopyButton } from '../../ui/copy.tsx';

/** The reference of a language for step fields: an introduction, and examples with their results. */
export function LanguageReference({ language }: { language: LanguageName }) {
  const { label, facts, examples } = LANGUAGE_HELP[language];
  return (
    <details className="border-t pt-3">
      <summary className="text-sm font-medium">{label}: reference</summary>
      <div className="mt-3 flex flex-col gap-3 text-sm">
        <ul className="list-disc space-y-1 pl-4 text-muted">
          {facts.map(fact => (
            <li key={fact}>{fact}</li>
          ))}
        </ul>
        <p className="text-xs text-muted">
          The examples read the input <code className="wrap-anywhere">{JSON.stringify(EXAMPLE_DATA.input)}</code> and
          the result of a step <code>order</code>:{' '}
          <code className="wrap-anywhere">{JSON.stringify(EXAMPLE_DATA.order)}</code>.
        </p>
        <ul aria-label={`Examples of ${label}`} className="flex flex-col gap-2">
          {examples.map(({ what, code, result }) => (
            <li key={code} className="rounded-md border bg-sunken">
              <div className="flex items-center justify-between border-b py-0.5 pr-0.5 pl-3 text-xs text-muted">
                {what}
                <CopyButton text={code} label={`Copy: ${what.toLowerCase()}`} />
              </div>
              <pre className="px-3 pt-2 font-mono text-xs leading-5 whitespace-pre-wrap wrap-anywhere">{code}</pre>
              <p className="px-3 pb-2 font-mono text-xs leading-5 wrap-anywhere text-muted">
                → {JSON.stringify(result)}
              </p>
            </li>
          ))}
        </ul>
      </div>
    </details>
  );
}
