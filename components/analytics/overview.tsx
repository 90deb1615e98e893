'use client';
import { formatFigure } from '../charts/figures.ts';
import { StatCard } from '../charts/stat-card.tsx';
import { useCreditsShown } from '../session/session.tsx';
import { Credits, formatCredits } from '../ui/credits.tsx';
import { formatDuration } from '../ui/time.tsx';
import type { Analytics } from './queries.ts';

const formatCount = (value: number) => formatFigure(value, 'count');
const waiting = (runs: number) => `${formatCount(runs)} waiting for ${runs === 1 ? 'a person' : 'people'}`;

/** The most important figures, in six cards, or five if credits are hidden. */
export function Overview({ analytics }: { analytics: Analytics }) {
  const { live, success, durations, runs, steps, credits, runsOverTime, usageOverTime } = analytics;
  const showsCredits = useCreditsShown();
  const runPoints = runsOverTime.data?.points ?? [];
  const usagePoints = usageOverTime.data?.points ?? [];
  const succeeded = success.data;
  const rate = succeeded?.success_rate;
  const took = durations.data;
  const started = runs.data?.started;
  return (
    <dl className="mb-4 grid grid-cols-2 gap-3 md:grid-cols-3 xl:grid-cols-6" aria-label="At a glance">
      <StatCard
        label="Live now"
        value={live.data && formatCount(live.data.total)}
        hint={
          live.data ? `${formatCount(live.data.running)} running, ${formatCount(live.data.paused)} paused` : undefined
        }
        note={live.data && live.data.blocked > 0 ? waiting(live.data.blocked) : undefined}
      />
      <StatCard
        label="Success rate"
        value={succeeded && (rate === null || rate === undefined ? '–' : formatFigure(rate, 'share'))}
        hint={
          succeeded
            ? `${formatCount(succeeded.completed)} completed, ${formatCount(succeeded.failed)} failed`
            : undefined
        }
        note={succeeded && succeeded.stopped > 0 ? `${formatCount(succeeded.stopped)} stopped` : undefined}
      />
      <StatCard
        label="Runs started"
        value={started === undefined ? undefined : formatCount(started)}
        hint={runs.data ? triggers(runs.data.by_trigger) : undefined}
        trend={{ title: 'Runs started over time', values: runPoints.map(point => point.started) }}
      />
      <StatCard
        label="Median duration"
        value={took && (took.p50_ms === null ? '–' : formatDuration(took.p50_ms))}
        hint={took && took.p95_ms !== null ? `95% within ${formatDuration(took.p95_ms)}` : ''}
      />
      <StatCard
        label="Steps executed"
        value={steps.data && formatCount(steps.data.total)}
        hint={
          steps.data
            ? `${formatCount(steps.data.failed)} failed, ${formatCount(steps.data.retried)} retried`
            : undefined
        }
        trend={{ title: 'Steps executed over time', values: usagePoints.map(point => point.steps) }}
      />
      {showsCredits ? (
        <StatCard
          label="Credits consumed"
          value={credits.data && <Credits value={credits.data.microcredits} />}
          hint={credits.data && started ? `${formatCredits(credits.data.microcredits / started)} per run` : ''}
          trend={{ title: 'Credits consumed over time', values: usagePoints.map(point => point.microcredits) }}
        />
      ) : null}
    </dl>
  );
}

/**
 * Describes the two trigger types with the most runs, and the sum of the rest: callers can define any number of types.
 */
function triggers(all: readonly { trigger_type: string; started: number }[]): string {
  const [first, second, ...others] = [...all].sort((a, b) => b.started - a.started);
  const rest = others.reduce((sum, { started }) => sum + started, 0);
  return [first, second, rest > 0 ? { trigger_type: 'other', started: rest } : undefined]
    .flatMap(each => (each ? [`${formatCount(each.started)} ${each.trigger_type}`] : []))
    .join(', ');
}
