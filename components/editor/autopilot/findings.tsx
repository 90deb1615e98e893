'use client';
import { CircleAlert, CircleCheck, TriangleAlert } from 'lucide-react';
import { NamedStep } from '../../runs/step-names.tsx';
import { useUrlState } from '../../ui/use-url-state.ts';
import { inConsoleWords } from '../problem-words.ts';
import type { Proposal } from './proposal.ts';

type Props = { validation: Proposal['validation']; needsInput: boolean };

/** Lists the errors and warnings of a proposal, with hints on how to resolve them. */
export function Findings({ validation: { errors, warnings }, needsInput }: Props) {
  const url = useUrlState();
  const problems = [
    ...errors.map(problem => ({ ...inConsoleWords(problem), isError: true })),
    ...warnings.map(problem => ({ ...inConsoleWords(problem), isError: false })),
  ];
  return (
    <section aria-label="Findings" className="flex flex-col gap-1">
      <p className="flex items-center gap-2 text-xs text-muted">
        {errors.length === 0 ? (
          <CircleCheck aria-hidden className="size-3.5 text-ok" />
        ) : (
          <CircleAlert aria-hidden className="size-3.5 text-bad" />
        )}
        {errors.length === 0
          ? 'With all changes applied, the workflow can be published.'
          : `${errors.length === 1 ? '1 problem' : `${errors.length} problems`} to fix before the workflow can be published.`}
      </p>
      {needsInput ? (
        <p className="rounded-md bg-warn-soft px-3 py-2 text-sm text-warn">
          The assistant could not fix this. Something outside the workflow is probably missing, such as a model key, a
          connection or an MCP server.
        </p>
      ) : null}
      {problems.length > 0 ? (
        <ul className="flex flex-col gap-1">
          {problems.map(({ isError, step_id: step, path, code, message, hint }) => {
            const Icon = isError ? CircleAlert : TriangleAlert;
            return (
              <li key={`${step}:${path}:${code}:${message}`} className="flex items-start gap-2 text-xs">
                <Icon
                  aria-label={isError ? 'Error' : 'Warning'}
                  className={`mt-0.5 size-3.5 shrink-0 ${isError ? 'text-bad' : 'text-warn'}`}
                />
                <span className="min-w-0 wrap-anywhere">
                  {step === null ? null : (
                    <button type="button" className="mr-1 text-muted hover:underline" onClick={() => url.set({ step })}>
                      <NamedStep id={step} />
                    </button>
                  )}
                  {message}
                  {hint === undefined ? null : <span className="block text-muted">{hint}</span>}
                </span>
              </li>
            );
          })}
        </ul>
      ) : null}
    </section>
  );
}
