import { useMemo } from 'react';
import type { RunState, StepState } from '@/server/domains/runs/reading/run-state.ts';
import type { StepDisplay } from '../graph/graph-elements.ts';
import type { GraphStepInput } from '../graph/layout.ts';
import { type OpenedLoops, useOpenedLoops } from '../graph/use-opened-loops.ts';
import { WorkflowGraph, type WorkflowGraphProps } from '../graph/workflow-graph.tsx';
import type { Outputs } from '../trpc/provider.tsx';
import { formatDuration } from '../ui/time.tsx';
import { GRAPH_HEIGHT } from './graph-height.ts';
import { nodeOfStep } from './loop-place.ts';
import { attemptsOf, shownStep, stepDuration, stepOutcomeLabel } from './outcome.ts';
import { type LoopsDrawn, useLoopsDrawn } from './use-loops-drawn.tsx';

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

/**
 * The graph of a run's version, with the state of each step. Loops can be opened: the steps in them have the states of an item that a person
 * chooses.
 */
export function RunGraph({ run, ...props }: Props & { run: { workflowId: string; runId: string } }) {
  const loops = useOpenedLoops(props.steps);
  const drawn = useLoopsDrawn({ ...props, run, isOpen: loops.isOpen });
  return <DrawnRunGraph {...props} loops={loops} drawn={drawn} />;
}

type DrawnProps = Props & {
  loops: OpenedLoops;
  drawn: LoopsDrawn;
  /** The nodes of the steps that differ from those of another run. The items of loops are then chosen for both graphs, outside of them. */
  differing?: ReadonlySet<string>;
};

/** The same where others need the opened loops and their items too. */
export function DrawnRunGraph({ drawn, differing, ...props }: DrawnProps) {
  const { steps, state, revision, selected } = props;
  const displays = useDisplays(steps, state, revision);
  const all = useMemo(() => {
    const inner = [...drawn.states].map(([node, step]) => [node, displayOf(step)] as const);
    const found = new Map([...displays, ...inner]);
    for (const node of differing ?? []) {
      const display = found.get(node);
      if (display !== undefined) found.set(node, { ...display, differs: true });
    }
    return found;
  }, [displays, drawn.states, differing]);
  return (
    <Graph
      {...props}
      displays={all}
      selected={selected === null ? null : nodeOfStep(selected)}
      onSelect={drawn.select}
      loopFoot={differing === undefined ? drawn.foot : undefined}
    />
  );
}

/** Returns the states of the version's steps as its graph shows them. */
function useDisplays(steps: readonly GraphStepInput[], state: RunState, revision: number) {
  // biome-ignore lint/correctness/useExhaustiveDependencies: the state is changed in place; `revision` says when
  return useMemo(() => {
    const all = new Map<string, StepDisplay>();
    for (const { id } of steps) {
      const step = state.steps.get(id);
      if (step !== undefined) all.set(id, displayOf(step));
    }
    return all;
  }, [steps, state, revision]);
}

function displayOf(step: StepState): StepDisplay {
  const { attempts, taskName, ofAgent } = step;
  const ms = stepDuration(step);
  const took = ms === null ? undefined : formatDuration(ms);
  return {
    status: shownStep(step).status,
    label: `${stepOutcomeLabel(step)}${took === undefined ? '' : ` · ${took}`}`,
    took,
    attempt: attemptsOf(attempts).length,
    began: attempts.length > 0,
    // A step that an agent added already has a name.
    title: ofAgent === null ? (taskName ?? undefined) : undefined,
  };
}

type GraphProps = Omit<Props, 'state' | 'revision'> & Pick<WorkflowGraphProps, 'displays' | 'loops' | 'loopFoot'>;

function Graph({ label = 'Graph of the run', className = GRAPH_HEIGHT, ...props }: GraphProps) {
  return (
    <div className={className}>
      <WorkflowGraph label={label} {...props} />
    </div>
  );
}
