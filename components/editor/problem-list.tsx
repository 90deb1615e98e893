'use client';
import { ChevronDown, CircleAlert, CircleCheck, LoaderCircle, TriangleAlert, Waypoints } from 'lucide-react';
import { useState } from 'react';
import type { Step } from '../../server/domains/workflows/edits/index.ts';
import { cx } from '../ui/classes.ts';
import { useMedia } from '../ui/use-media.ts';
import { isInLoop, placeInLoop } from './loop-problems.ts';
import type { Problem } from './use-draft.ts';

/** At this width or more, the canvas is high enough for an open list below it. */
const HAS_ROOM = '(min-width: 1024px)';

/**
 * The errors and warnings of the draft; a click opens the place of a problem. Below a small canvas, the list is
 * initially collapsed.
 */
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
  const hasRoom = useMedia(HAS_ROOM);
  const [chosen, setChosen] = useState<boolean | null>(null);
  const open = chosen ?? hasRoom;
  // A new workflow without steps is not shown as faulty.
  const isNew = steps.length === 0 && problems.every(({ code }) => code === 'no_steps');
  const list = isNew ? [] : problems;
  return (
    <section aria-label="Problems" className="shrink-0 border-t bg-surface">
      <div className="relative flex h-7 items-center gap-2 px-3 text-xs text-muted max-lg:h-9">
        <p role="status" className="flex min-w-0 flex-1 items-center gap-2">
          {checking ? (
            <LoaderCircle aria-hidden className="size-3.5 shrink-0 animate-spin" />
          ) : isNew ? (
            <Waypoints aria-hidden className="size-3.5 shrink-0" />
          ) : errors > 0 ? (
            <CircleAlert aria-hidden className="size-3.5 shrink-0 text-bad" />
          ) : (
            <CircleCheck aria-hidden className="size-3.5 shrink-0 text-ok" />
          )}
          <span className="truncate">
            {isNew
              ? 'Add the first step. What is missing is shown here.'
              : problems.length === 0
                ? 'No problems: this draft can be published.'
                : summary(errors, warnings)}
          </span>
        </p>
        {list.length > 0 ? (
          <button
            type="button"
            aria-expanded={open}
            onClick={() => setChosen(!open)}
            // On a phone a tap anywhere on the bar does the same.
            className="inline-flex items-center gap-1 rounded-md px-1.5 py-0.5 hover:bg-hover hover:text-text focus-visible:-outline-offset-2 max-lg:after:absolute max-lg:after:inset-0"
          >
            {open ? 'Hide' : 'Show'}
            <ChevronDown aria-hidden className={cx('size-3.5 transition-transform', !open && 'rotate-180')} />
          </button>
        ) : null}
      </div>
      {list.length > 0 && open ? (
        <ul className="max-h-32 max-lg:max-h-17 overflow-y-auto border-t">
          {list.map(problem => (
            <li
              key={`${problem.step_id}:${problem.path}:${problem.code}:${problem.message}`}
              className="border-b last:border-b-0"
            >
              <button
                type="button"
                onClick={() => onJump(problem)}
                className="flex w-full items-start gap-2 px-3 py-1.5 text-left text-xs hover:bg-hover focus-visible:-outline-offset-2"
              >
                {problem.severity === 'error' ? (
                  <CircleAlert aria-label="Error" className="mt-0.5 size-3.5 shrink-0 text-bad" />
                ) : (
                  <TriangleAlert aria-label="Warning" className="mt-0.5 size-3.5 shrink-0 text-warn" />
                )}
                <span className="min-w-0 wrap-anywhere">
                  {problem.step_id ? (
                    <span className="mr-1.5 font-medium" title={problem.step_id}>
                      {placeOf(problem, byId.get(problem.step_id))}
                    </span>
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
  return `${typeof step?.name === 'string' && step.name !== '' ? step.name : problem.step_id}${inner}`;
}

function summary(errors: number, warnings: number): string {
  const count = (n: number, word: string) => `${n} ${word}${n === 1 ? '' : 's'}`;
  if (errors === 0) return `${count(warnings, 'warning')}; this draft can be published.`;
  return `${count(errors, 'problem')}${warnings > 0 ? ` and ${count(warnings, 'warning')}` : ''} before this draft can be published.`;
}
