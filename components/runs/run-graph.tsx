import { useMemo } from 'react';
import { type StepDisplay, WorkflowGraph } from '../graph/workflow-graph.tsx';
import type { Outputs } from '../trpc/provider.tsx';
import { stepOutcomeLabel } from './outcome.ts';
import type { LiveRun } from './use-run.ts';

export type Steps = Outputs['workflows_get_version']['graph_snapshot']['steps'];

type Props = { steps: Steps; live: LiveRun; selected: string | null; onSelect: (step: string | null) => void };

/** The graph of a run's version, with the state of each step. */
export function RunGraph({ steps, live, selected, onSelect }: Props) {
  // biome-ignore lint/correctness/useExhaustiveDependencies: the state is changed in place; `revision` says when
  const displays = useMemo(() => {
    const all = new Map<string, StepDisplay>();
    for (const step of live.state.steps.values()) {
      const { status, attempts, taskName } = step;
      all.set(step.id, {
        status,
        label: stepOutcomeLabel(step),
        attempt: attempts.length,
        title: taskName ?? undefined,
      });
    }
    return all;
  }, [live.state, live.revision]);
  return (
    <div className="h-[45dvh] sm:h-[68dvh]">
      <WorkflowGraph
        label="Graph of the run"
        steps={steps}
        displays={displays}
        selected={selected}
        onSelect={onSelect}
      />
    </div>
  );
}
