import type { ReactNode } from 'react';
import type { RunState } from '@/server/domains/runs/reading/run-state.ts';
import { failureOf } from './failure-text.ts';
import type { Steps } from './run-graph.tsx';
import { stepNames } from './step-names.tsx';

type Props = {
  state: RunState;
  steps: Steps;
  onSelect: (step: string) => void;
  /** Help with the failure, for example buttons that ask Autopilot. */
  children?: ReactNode;
};

/** Says in one sentence why and where a run failed. Renders nothing for a run that did not fail. */
export function RunFailure({ state, steps, onSelect, children }: Props) {
  const failure = failureOf(state, stepNames(steps));
  if (!failure) return null;
  return (
    <div
      role="alert"
      className="mb-4 rounded-md border border-bad/40 bg-bad-soft px-3 py-2 text-sm wrap-anywhere text-bad"
    >
      <button
        type="button"
        title={failure.stepId}
        className="font-medium underline underline-offset-2"
        onClick={() => onSelect(failure.stepId)}
      >
        {failure.stepName}
      </button>{' '}
      failed{failure.at ? ` ${failure.at}` : ''}: <span className="whitespace-pre-wrap">{failure.why}</span>
      {children}
    </div>
  );
}
