import dynamic from 'next/dynamic';
import { useMemo } from 'react';
import { Checkbox } from '../ui/checkbox.tsx';
import { Skeleton } from '../ui/skeleton.tsx';
import { agentStepsOf, withAgentSteps } from './agent-steps.ts';
import { GRAPH_HEIGHT } from './graph-height.ts';
import type { Steps } from './run-graph.tsx';
import type { LiveRun } from './use-run.ts';

// Drawn in the browser alone, and a third of the JavaScript of the page: the run and its steps are read before it comes.
const RunGraph = dynamic(() => import('./run-graph.tsx').then(module => module.RunGraph), {
  ssr: false,
  loading: () => (
    <div className={GRAPH_HEIGHT}>
      <Skeleton className="h-full min-h-80 w-full" />
    </div>
  ),
});

type Props = {
  steps: Steps;
  /** The notes of the version's graph. */
  notes: unknown;
  live: LiveRun;
  selected: string | null;
  onSelect: (step: string | null) => void;
  /** Whether agents are drawn with their turns and calls. */
  open: boolean;
  onOpen: (open: boolean) => void;
};

/** The graph of a run, in which agents may be opened into what they did. */
export function AgentGraph({ steps, notes, live, selected, onSelect, open, onOpen }: Props) {
  const { state, revision } = live;
  // biome-ignore lint/correctness/useExhaustiveDependencies: the state is changed in place; `revision` says when
  const added = useMemo(() => agentStepsOf(state), [state, revision]);
  const names = JSON.stringify([...added]);
  // biome-ignore lint/correctness/useExhaustiveDependencies: drawn again only where a step was added or is called otherwise
  const drawn = useMemo(() => (open && added.size > 0 ? withAgentSteps(steps, added) : steps), [steps, open, names]);
  return (
    <div className="flex flex-col gap-2">
      {added.size > 0 ? <Checkbox label="Show turns and calls" checked={open} onCheckedChange={onOpen} /> : null}
      <RunGraph
        // What is in view is chosen when a graph is drawn first.
        key={open ? 'open' : 'closed'}
        steps={drawn}
        // They are placed among the steps of the version; with others, all are laid out anew.
        notes={drawn === steps ? notes : undefined}
        state={state}
        revision={revision}
        selected={selected}
        onSelect={onSelect}
      />
    </div>
  );
}
