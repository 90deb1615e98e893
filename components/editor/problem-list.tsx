'use client';
import { CircleAlert, CircleCheck, LoaderCircle, TriangleAlert } from 'lucide-react';
import type { Step } from '../../server/domains/workflows/edits/index.ts';
import { isInLoop, placeInLoop } from './loop-problems.ts';
import type { Problem } from './use-draft.ts';

/** Everything that is wrong with the draft, or may be; a click leads to the place. */
export function ProblemList({
  steps,
  problems,
  checking,
  onJump,
}: {
  /** The steps of the draft. */
  steps: readonly Step[];
  problems: readonly Problem[];
  checking: boolean;
  onJump: (problem: Problem) => void;
}) {
  const errors = problems.filter(problem => problem.severity === 'error').length;
  const warnings = problems.length - errors;
  const byId = new Map(steps.map(step => [step.id, step]));
  return (
    <section aria-label="Problems" className="rounded-lg border bg-surface">
      <p role="status" className="flex items-center gap-2 px-3 py-2 text-xs text-muted">
        {checking ? (
          <LoaderCircle aria-hidden className="size-3.5 animate-spin" />
        ) : errors > 0 ? (
          <CircleAlert aria-hidden className="size-3.5 text-bad" />
        ) : (
          <CircleCheck aria-hidden className="size-3.5 text-ok" />
        )}
        {errors === 0 && warnings === 0 ? 'No problems: this draft can be published.' : summary(errors, warnings)}
      </p>
      {problems.length > 0 ? (
        <ul className="max-h-48 overflow-y-auto border-t">
          {problems.map(problem => (
            <li
              key={`${problem.step_id}:${problem.path}:${problem.code}:${problem.message}`}
              className="border-b last:border-b-0"
            >
              <button
                type="button"
                onClick={() => onJump(problem)}
                className="flex w-full items-start gap-2 px-3 py-1.5 text-left text-xs hover:bg-hover"
              >
                {problem.severity === 'error' ? (
                  <CircleAlert aria-label="Error" className="mt-0.5 size-3.5 shrink-0 text-bad" />
                ) : (
                  <TriangleAlert aria-label="Warning" className="mt-0.5 size-3.5 shrink-0 text-warn" />
                )}
                <span className="min-w-0 wrap-anywhere">
                  {problem.step_id ? (
                    <code className="mr-1 text-muted">{placeOf(problem, byId.get(problem.step_id))}</code>
                  ) : null}
                  {problem.message}
                  {problem.hint === undefined ? null : <span className="block text-muted">{problem.hint}</span>}
                </span>
              </button>
            </li>
          ))}
        </ul>
      ) : null}
    </section>
  );
}

function placeOf(problem: Problem, step: Step | undefined): string {
  const inner = isInLoop(problem) ? ` › ${placeInLoop(step, problem.path)}` : '';
  return `${problem.step_id}${inner}`;
}

function summary(errors: number, warnings: number): string {
  const count = (n: number, word: string) => `${n} ${word}${n === 1 ? '' : 's'}`;
  if (errors === 0) return `${count(warnings, 'warning')}; this draft can be published.`;
  return `${count(errors, 'problem')}${warnings > 0 ? ` and ${count(warnings, 'warning')}` : ''} before this draft can be published.`;
}
