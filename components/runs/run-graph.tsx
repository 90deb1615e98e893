import { useMemo } from 'react';
import type { RunState } from '@/server/domains/runs/run-state.ts';
import { type StepDisplay, WorkflowGraph } from '../graph/workflow-graph.tsx';
import type { Outputs } from '../trpc/provider.tsx';
import { stepOutcomeLabel } from './outcome.ts';

export type Steps = Outputs['workflows_get_version']['graph_snapshot']['steps'];

type Props = {
  steps: Steps;
  state: RunState;
  /** Counts the changes of `state`, which is changed in place. */
  revision: number;
  selected: string | null;
  onSelect: (step: string | null) => void;
  label?: string;
  /** Its height. */
  className?: string;
};

/** The graph of a run's version, with the state of each step. */
export function RunGraph(props: Props) {
  const { steps, state, revision, selected, onSelect } = props;
  const { label = 'Graph of the run', className = 'h-[45dvh] sm:h-[68dvh]' } = props;
  // biome-ignore lint/correctness/useExhaustiveDependencies: the state is changed in place; `revision` says when
  const displays = useMemo(() => {
    const all = new Map<string, StepDisplay>();
    for (const { id } of steps) {
      const step = state.steps.get(id);
      if (step === undefined) continue;
      const { status, attempts, taskName } = step;
      all.set(step.id, {
        status,
        label: stepOutcomeLabel(step),
        attempt: attempts.length,
        title: taskName ?? undefined,
      });
    }
    return all;
  }, [steps, state, revision]);
  return (
    <div className={className}>
      <WorkflowGraph label={label} steps={steps} displays={displays} selected={selected} onSelect={onSelect} />
    </div>
  );
}
