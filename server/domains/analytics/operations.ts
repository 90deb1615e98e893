import { operation } from '../../operation/operation.ts';
import { creditsConsumed } from './credits-consumed.ts';
import { executionDuration } from './execution-duration.ts';
import { liveRuns } from './live-runs.ts';
import { runsCount } from './runs-count.ts';
import {
  AnalyticsInput,
  CreditsConsumed,
  ExecutionDuration,
  LiveRuns,
  LiveRunsInput,
  RunsCount,
  RunsTimeseries,
  StepsExecuted,
  StepsSummary,
  SuccessRate,
  TimeseriesInput,
  UsageTimeseries,
} from './schemas.ts';
import { stepsExecuted, stepsSummary } from './steps.ts';
import { successRate } from './success-rate.ts';
import { runsTimeseries, usageTimeseries } from './timeseries.ts';

const common = {
  method: 'GET',
  status: 200,
  tag: 'Analytics',
  access: 'project_contributor',
  scope: 'analytics:read',
  errors: [503],
} as const;
const ranged = `Of the caller's project, or of one workflow of it. A \`window\` ends with the quarter of an hour that runs and begins with a day of
\`time_zone\`; \`from\` and \`to\` are any instants, rounded outward to quarters of an hour, by which figures are rolled up: the answer's \`from\` and \`to\` are what it counts. Everything committed before \`as_of\` is counted, which is
some two seconds ago at most while runs are under way.`;
const points = `There is a point for every hour, day, week (from Monday) or month of \`time_zone\`, also where nothing was, and at most 2,000. Without
\`granularity\`: hours up to 3 days, days up to 92, weeks up to 731, then months.`;

/** The operations that read outcomes, durations and usage of runs. */
export const analyticsOperations = [
  operation({
    ...common,
    name: 'analytics_live_runs',
    path: '/v1/analytics/live-runs',
    summary: 'Count the runs that have not ended',
    input: LiveRunsInput,
    output: LiveRuns,
    mcp: { group: 'core' },
    run: liveRuns,
  }),
  operation({
    ...common,
    name: 'analytics_success_rate',
    path: '/v1/analytics/success-rate',
    summary: 'Get the success rate of the runs that ended',
    description: `The rate is that of completed among completed and failed runs; a stopped run is neither. ${ranged}`,
    input: AnalyticsInput,
    output: SuccessRate,
    mcp: { group: 'core' },
    run: successRate,
  }),
  operation({
    ...common,
    name: 'analytics_execution_duration',
    path: '/v1/analytics/execution-duration',
    summary: 'Get the durations of runs',
    description: `From start to end, waiting included, of runs that completed or failed, counted when they ended. Percentiles are within 0.4 %,
everything else is exact. ${ranged}`,
    input: AnalyticsInput,
    output: ExecutionDuration,
    run: executionDuration,
  }),
  operation({
    ...common,
    name: 'analytics_runs_count',
    path: '/v1/analytics/runs-count',
    summary: 'Count the runs that started and ended',
    description: `A run counts as started when it began and as completed, failed or stopped when it ended. Of trigger types that callers made up,
the first 100 of a month are told by name and the rest as \`other\`. ${ranged}`,
    input: AnalyticsInput,
    output: RunsCount,
    run: runsCount,
  }),
  operation({
    ...common,
    name: 'analytics_steps_executed',
    path: '/v1/analytics/steps-executed',
    summary: 'Count the steps that were executed',
    description: `Attempts that ended by themselves, successfully or not; steps that were skipped, cancelled or lost in a crash do not count. ${ranged}`,
    input: AnalyticsInput,
    output: StepsExecuted,
    run: stepsExecuted,
  }),
  operation({
    ...common,
    name: 'analytics_credits_consumed',
    path: '/v1/analytics/credits-consumed',
    summary: 'Get the credits that runs were charged',
    description: `In microcredits: 1,000,000 are one credit. ${ranged}`,
    input: AnalyticsInput,
    output: CreditsConsumed,
    mcp: { group: 'core' },
    run: creditsConsumed,
  }),
  operation({
    ...common,
    name: 'analytics_steps_summary',
    path: '/v1/analytics/steps-summary',
    summary: 'Get the steps and their cost, by type',
    description: `The credits of a type include what its steps used: tool calls and tokens. ${ranged}`,
    input: AnalyticsInput,
    output: StepsSummary,
    run: stepsSummary,
  }),
  operation({
    ...common,
    name: 'analytics_runs_timeseries',
    path: '/v1/analytics/runs-timeseries',
    summary: 'Get a time series of runs',
    description: `${points} ${ranged}`,
    input: TimeseriesInput,
    output: RunsTimeseries,
    mcp: { group: 'core' },
    run: runsTimeseries,
  }),
  operation({
    ...common,
    name: 'analytics_usage_timeseries',
    path: '/v1/analytics/usage-timeseries',
    summary: 'Get a time series of steps, tool calls, tokens and credits',
    description: `${points} ${ranged}`,
    input: TimeseriesInput,
    output: UsageTimeseries,
    mcp: { group: 'core' },
    run: usageTimeseries,
  }),
] as const;
