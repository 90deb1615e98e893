'use client';
import { keepPreviousData, type UseQueryResult, useQuery } from '@tanstack/react-query';
import { type Outputs, useTRPC } from '../trpc/provider.tsx';
import type { Filters } from './filters.ts';

/** An ended run is counted within two seconds and shown within ten; live runs are shown within three. A hidden page sends no queries. */
const REFETCH_MS = 10_000;
const LIVE_MS = 3_000;
// A failed query waits for "Try again": automatic retries would alternate between an error and a skeleton.
const every = (ms: number) => (query: { state: { data: unknown } }) => (query.state.data === undefined ? false : ms);
const options = { refetchInterval: every(REFETCH_MS), placeholderData: keepPreviousData } as const;

export type ExecutionDuration = Outputs['analytics_execution_duration'];
export type RunsCount = Outputs['analytics_runs_count'];
export type CreditsConsumed = Outputs['analytics_credits_consumed'];
export type StepsSummary = Outputs['analytics_steps_summary'];
export type RunsTimeseries = Outputs['analytics_runs_timeseries'];
export type UsageTimeseries = Outputs['analytics_usage_timeseries'];

/** Reads everything that the page shows for its filters. All queries are sent in one request. */
export function useAnalytics({ range, granularity }: Filters) {
  const trpc = useTRPC();
  const series = granularity === undefined ? range : { ...range, granularity };
  const live = range.workflow_id === undefined ? {} : { workflow_id: range.workflow_id };
  return {
    live: useQuery(trpc.analytics_live_runs.queryOptions(live, { ...options, refetchInterval: every(LIVE_MS) })),
    success: useQuery(trpc.analytics_success_rate.queryOptions(range, options)),
    durations: useQuery(trpc.analytics_execution_duration.queryOptions(range, options)),
    runs: useQuery(trpc.analytics_runs_count.queryOptions(range, options)),
    steps: useQuery(trpc.analytics_steps_executed.queryOptions(range, options)),
    credits: useQuery(trpc.analytics_credits_consumed.queryOptions(range, options)),
    stepTypes: useQuery(trpc.analytics_steps_summary.queryOptions(range, options)),
    runsOverTime: useQuery(trpc.analytics_runs_timeseries.queryOptions(series, options)),
    usageOverTime: useQuery(trpc.analytics_usage_timeseries.queryOptions(series, options)),
  };
}

export type Analytics = ReturnType<typeof useAnalytics>;
export type Query<D> = UseQueryResult<D, unknown>;
