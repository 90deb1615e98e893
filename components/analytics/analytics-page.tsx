'use client';
import { ChartNoAxesCombined } from 'lucide-react';
import dynamic from 'next/dynamic';
import { useSyncExternalStore } from 'react';
import { useCreditsShown, usePermissions } from '../session/session.tsx';
import { Button, ButtonLink } from '../ui/button.tsx';
import { Card } from '../ui/card.tsx';
import { cx } from '../ui/classes.ts';
import { readError } from '../ui/errors.ts';
import { Page, PageHeader, PageSkeleton } from '../ui/page.tsx';
import { Skeleton } from '../ui/skeleton.tsx';
import { EmptyState, ErrorState, NeedsContributor } from '../ui/states.tsx';
import { formatLocal } from '../ui/time.tsx';
import { useUrlState } from '../ui/use-url-state.ts';
import { AnalyticsFilters } from './analytics-filters.tsx';
import { Durations } from './duration-section.tsx';
import { type Filters, readFilters } from './filters.ts';
import { Overview } from './overview.tsx';
import { type Analytics, useAnalytics } from './queries.ts';
import { RunsByWorkflow, RunsOverTime } from './run-sections.tsx';
import {
  CreditsByAction,
  CreditsByWorkflow,
  CreditsOverTime,
  StepsOverTime,
  TokensOverTime,
} from './usage-sections.tsx';

// Loaded separately, because the tiles of step types and their icons are at the end of the page.
const StepsByType = dynamic(() => import('./step-section.tsx').then(module => module.StepsByType), {
  loading: () => <Skeleton className="h-64 w-full" />,
});

const subscribeToNothing = () => () => {};
const browserZone = () => Intl.DateTimeFormat().resolvedOptions().timeZone;

/** Shows the outcomes, durations and costs of the project's runs. */
export function AnalyticsPage() {
  const { canWrite } = usePermissions();
  // Only the browser knows the time zone, and whole days depend on the zone: no query is sent before the zone is known.
  const zone = useSyncExternalStore(subscribeToNothing, browserZone, () => null);
  if (!canWrite)
    return (
      <Page>
        <PageHeader title="Analytics" />
        <NeedsContributor icon={ChartNoAxesCombined} what="Analytics" />
      </Page>
    );
  return zone === null ? <PageSkeleton /> : <Loaded zone={zone} />;
}

function Loaded({ zone }: { zone: string }) {
  const { get } = useUrlState();
  const now = Date.now();
  const filters = readFilters(get, zone, now);
  const analytics = useAnalytics(filters);
  const { runs } = analytics;
  return (
    <Page>
      <PageHeader
        title="Analytics"
        description={runs.data ? <Period {...runs.data} /> : 'Outcomes, durations and costs of runs.'}
      />
      <AnalyticsFilters filters={filters} zone={zone} now={now} />
      <Sections analytics={analytics} filters={filters} />
    </Page>
  );
}

function Period({ from, to, time_zone }: { from: string; to: string; time_zone: string }) {
  const day = new Intl.DateTimeFormat('en-GB', { timeZone: time_zone, dateStyle: 'medium' });
  // `to` is exclusive: the last day contains the instant before it.
  const last = new Date(Date.parse(to) - 1);
  return (
    <span title={`${formatLocal(from)} – ${formatLocal(to)}`}>
      {day.formatRange(new Date(from), last)}, {time_zone}
    </span>
  );
}

function Sections({ analytics, filters }: { analytics: Analytics; filters: Filters }) {
  const { runs, steps, success, live } = analytics;
  const showsCredits = useCreditsShown();
  const all = Object.values(analytics);
  // If all nine queries fail, one error is shown for all.
  if (all.every(query => query.isError && query.data === undefined))
    return (
      <Card flush>
        <ErrorState
          error={runs.error}
          {...(readError(runs.error).status === 503 ? { title: 'Analytics are not available right now' } : {})}
          onRetry={() => {
            for (const query of all) void query.refetch();
          }}
        />
      </Card>
    );
  const nothing =
    runs.data?.started === 0 && success.data?.total === 0 && steps.data?.total === 0 && live.data?.total === 0;
  if (nothing) return <NothingYet filters={filters} />;
  const stale = all.some(query => query.isPlaceholderData);
  return (
    <div aria-busy={stale} className={cx('transition-opacity', stale && 'opacity-60')}>
      <Overview analytics={analytics} />
      <div className="grid grid-cols-1 gap-4 lg:grid-cols-2">
        <RunsOverTime query={analytics.runsOverTime} />
        {showsCredits ? <CreditsOverTime query={analytics.usageOverTime} /> : null}
        <Durations query={analytics.durations} />
        <RunsByWorkflow query={analytics.runs} />
        <StepsOverTime query={analytics.usageOverTime} />
        <TokensOverTime query={analytics.usageOverTime} />
      </div>
      <div className="mt-4 grid grid-cols-1 gap-4 lg:grid-cols-2 xl:grid-cols-3">
        <StepsByType query={analytics.stepTypes} />
        {showsCredits ? (
          <>
            <CreditsByAction query={analytics.credits} />
            <CreditsByWorkflow query={analytics.credits} />
          </>
        ) : null}
      </div>
    </div>
  );
}

function NothingYet({ filters }: { filters: Filters }) {
  const { set } = useUrlState();
  const narrowed = filters.period !== 'all' || filters.range.workflow_id !== undefined;
  return (
    <Card flush>
      <EmptyState
        icon={ChartNoAxesCombined}
        title="No runs in this period"
        action={
          <>
            <ButtonLink variant="primary" href="/workflows">
              Start one
            </ButtonLink>
            {narrowed ? (
              <Button onClick={() => set({ period: 'all', from: '', to: '', workflow_id: '' }, { push: true })}>
                Show all time
              </Button>
            ) : null}
          </>
        }
      >
        Run a workflow. Its outcome, duration, steps and credits appear here within seconds.
      </EmptyState>
    </Card>
  );
}
