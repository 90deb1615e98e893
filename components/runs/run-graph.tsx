import { useMemo } from 'react';
import type { RunState } from '@/server/domains/runs/run-state.ts';
import type { GraphStepInput } from '../graph/layout.ts';
import { type StepDisplay, WorkflowGraph } from '../graph/workflow-graph.tsx';
import type { Outputs } from '../trpc/provider.tsx';
import { formatDuration } from '../ui/time.tsx';
import { GRAPH_HEIGHT } from './graph-height.ts';
import { attemptsOf, shownStep, stepDuration, stepOutcomeLabel } from './outcome.ts';

export type Steps = Outputs['workflows_get_version']['graph_snapshot']['steps'];

type Props = {
  steps: readonly GraphStepInput[];
  /** The notes of the version's graph. */
  notes?: unknown;
  state: RunState;
  /** Counts the changes of `state`, because the state is mutated in place. */
  revision: number;
  selected: string | null;
  onSelect: (step: string | null) => void;
  label?: string;
  /** The class names that set the height. */
  className?: string;
};

/** The graph of a run's version, with the state of each step. */
export function RunGraph(props: Props) {
  const { steps, notes, state, revision, selected, onSelect } = props;
  const { label = 'Graph of the run', className = GRAPH_HEIGHT } = props;
  // biome-ignore lint/correctness/useExhaustiveDependencies: the state is changed in place; `revision` says when
  const displays = useMemo(() => {
    const all = new Map<string, StepDisplay>();
    for (const { id } of steps) {
      const step = state.steps.get(id);
      if (step === undefined) continue;
      const { attempts, taskName, ofAgent } = step;
      const ms = stepDuration(step);
      const took = ms === null ? undefined : formatDuration(ms);
      all.set(step.id, {
        status: shownStep(step).status,
        label: `${stepOutcomeLabel(step)}${took === undefined ? '' : ` · ${took}`}`,
        took,
        attempt: attemptsOf(attempts).length,
        began: attempts.length > 0,
        // Steps that an agent added have their own names.
        title: ofAgent === null ? (taskName ?? undefined) : undefined,
      });
    }
    return all;
  }, [steps, state, revision]);
  return (
    <div className={className}>
      <WorkflowGraph
        label={label}
        steps={steps}
        notes={notes}
        displays={displays}
        selected={selected}
        onSelect={onSelect}
      />
    </div>
  );
}
