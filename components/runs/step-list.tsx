import type { RunState } from '@/server/domains/runs/reading/run-state.ts';
import { StepTile } from '../graph/step-icon.tsx';
import { cx } from '../ui/classes.ts';
import { StatusBadge } from '../ui/status-badge.tsx';
import { formatDuration } from '../ui/time.tsx';
import { agentStepsOf } from './agent-steps.ts';
import { shownStep, stepDuration } from './outcome.ts';
import type { Steps } from './run-graph.tsx';

type Props = { steps: Steps; state: RunState; onSelect: (step: string) => void };

// A list of 2,000 buttons would not help; every step can be reached in the graph, the timeline and the events.
const MAX_SHOWN = 50;
/** Indentations by depth: steps added by an agent are indented below the agent. */
const insets = ['pl-3', 'pl-6', 'pl-9'];

/** Lists the steps, because the steps of a graph are hard to select by keyboard and on phones. */
export function StepList({ steps, state, onSelect }: Props) {
  const added = agentStepsOf(state);
  const all = steps.flatMap(({ id, name, type }) => [{ id, name, type, depth: 0 }, ...(added.get(id) ?? [])]);
  const shown = all.slice(0, MAX_SHOWN);
  return (
    <section aria-label="Steps" className="rounded-lg border bg-surface shadow-sm">
      <ul>
        {shown.map(step => {
          const stepState = state.steps.get(step.id);
          const took = stepState === undefined ? null : stepDuration(stepState);
          return (
            <li key={step.id} className="border-b last:border-b-0">
              <button
                type="button"
                onClick={() => onSelect(step.id)}
                className={cx('flex w-full items-center gap-2 py-2 pr-3 text-left hover:bg-hover', insets[step.depth])}
              >
                <StepTile type={step.type} size="sm" />
                <span className="min-w-0 flex-1 truncate">
                  {(step.depth === 0 && stepState?.taskName) || (typeof step.name === 'string' && step.name) || step.id}
                </span>
                {took === null ? null : <span className="text-xs text-muted tabular-nums">{formatDuration(took)}</span>}
                <StatusBadge
                  kind="step"
                  {...(stepState ? shownStep(stepState) : { status: 'pending', detail: null })}
                />
              </button>
            </li>
          );
        })}
      </ul>
      {all.length > shown.length ? (
        <p className="px-3 py-2 text-xs text-muted">and {all.length - shown.length} more in the graph</p>
      ) : null}
    </section>
  );
}
