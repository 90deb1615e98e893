'use client';
import { BarList } from '../charts/bar-list.tsx';
import { ChartCard, LIST_HEIGHT } from '../charts/chart-card.tsx';
import { StepTypeLabel, stepTypeLook } from '../graph/step-icon.tsx';
import { useCreditsShown } from '../session/session.tsx';
import type { Query, StepsSummary } from './queries.ts';

const countAttempts = ({ completed, failed, retried }: StepsSummary['steps'][number]) => completed + failed + retried;
const byAttempts = (a: StepsSummary['steps'][number], b: StepsSummary['steps'][number]) =>
  countAttempts(b) - countAttempts(a);

/** The attempts and their outcomes, by step type. */
export function StepsByType({ query }: { query: Query<StepsSummary> }) {
  const showsCredits = useCreditsShown();
  return (
    <ChartCard
      id="steps"
      height={LIST_HEIGHT}
      scrolls
      title="Steps by type"
      description="Attempts. Failed attempts first, in red."
      query={query}
      isEmpty={data => data.steps.length === 0}
      empty="No step was executed in this period."
      figures={data => ({
        columns: [
          { label: 'Step type' },
          { label: 'Completed', unit: 'count' },
          { label: 'Failed', unit: 'count' },
          { label: 'Retried', unit: 'count' },
          ...(showsCredits ? [{ label: 'Credits', unit: 'credits' as const }] : []),
        ],
        rows: data.steps.map(each => [
          stepTypeLook(each.step_type).label,
          each.completed,
          each.failed,
          each.retried,
          ...(showsCredits ? [each.microcredits] : []),
        ]),
      })}
    >
      {data => (
        <BarList
          label="Steps by type"
          unit="count"
          items={[...data.steps].sort(byAttempts).map(({ step_type, completed, failed, retried }) => ({
            key: step_type,
            label: <StepTypeLabel type={step_type} />,
            value: completed + failed + retried,
            detail: [failed > 0 ? `${failed} failed` : '', retried > 0 ? `${retried} retried` : '']
              .filter(Boolean)
              .join(', '),
            parts: [{ ink: 'failed', value: failed }],
          }))}
        />
      )}
    </ChartCard>
  );
}
