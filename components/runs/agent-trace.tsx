'use client';
import type { RunState } from '@/server/domains/runs/reading/run-state.ts';
import { StepTile } from '../graph/step-icon.tsx';
import { useCreditsShown } from '../session/session.tsx';
import { cx } from '../ui/classes.ts';
import { Credits } from '../ui/credits.tsx';
import { StatusBadge } from '../ui/status-badge.tsx';
import { Duration } from '../ui/time.tsx';
import type { AgentStep } from './agent-steps.ts';

type Props = {
  steps: readonly AgentStep[];
  state: RunState;
  selected: string | null;
  onSelect: (step: string) => void;
};

/** Lists the turns of an agent, with the calls and approvals of each turn below the turn. */
export function AgentTrace({ steps, state, selected, onSelect }: Props) {
  return (
    <ol aria-label="Turns and calls" className="overflow-hidden rounded-md border">
      {steps.map(step => (
        <li key={step.id} className="border-b last:border-b-0">
          <Line step={step} state={state} isSelected={step.id === selected} onSelect={onSelect} />
        </li>
      ))}
    </ol>
  );
}

type LineProps = { step: AgentStep; state: RunState; isSelected: boolean; onSelect: (step: string) => void };

function Line({ step: { id, type, name, depth }, state, isSelected, onSelect }: LineProps) {
  const showsCredits = useCreditsShown();
  const step = state.steps.get(id);
  const began = step?.attempts[0]?.startedAt;
  return (
    <button
      type="button"
      aria-pressed={isSelected}
      onClick={() => onSelect(id)}
      className={cx(
        'flex w-full items-center gap-2 py-1.5 pr-3 text-left text-sm hover:bg-hover',
        depth === 1 ? 'pl-3' : 'pl-8',
        isSelected && 'bg-accent-soft',
      )}
    >
      <StepTile type={type} size="sm" />
      <span className={cx('min-w-0 flex-1 truncate', type === 'agent_tool' && 'font-mono text-xs')}>{name}</span>
      {showsCredits && step !== undefined && step.credits > 0 ? (
        <Credits unit value={step.credits} className="shrink-0 text-xs text-muted tabular-nums max-sm:hidden" />
      ) : null}
      {began === undefined ? null : (
        <Duration
          from={new Date(began).toISOString()}
          to={step?.endedAt == null ? null : new Date(step.endedAt).toISOString()}
          className="shrink-0 text-xs text-muted tabular-nums"
        />
      )}
      <StatusBadge kind="step" status={step?.status ?? 'pending'} detail={step?.skipReason ?? null} />
    </button>
  );
}
