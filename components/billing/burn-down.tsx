'use client';
import { useQuery } from '@tanstack/react-query';
import { useMemo } from 'react';
import { ChartCard } from '../charts/chart-card.tsx';
import { TimeSeries, timeSeriesFigures } from '../charts/time-series.tsx';
import { useTRPC } from '../trpc/provider.tsx';
import { useNow } from '../ui/time.tsx';
import { type BurnDownPoint, burnDown, daysAtThisPace } from './burn-down-series.ts';
import type { BillingStatus } from './wire.ts';
import { counted, formatDate } from './words.ts';

const series = [{ key: 'remaining', label: 'Credits left', ink: 'one' }] as const;
const common = { series, unit: 'credits', granularity: 'day', timeZone: 'UTC' } as const;

const HEIGHT = 280;

function paceText(days: number): string {
  if (days === 0) return 'less than a day';
  return days > 365 ? 'more than a year' : `about ${counted(days, 'day')}`;
}

/** The balance of this period day by day, and how long the rest lasts at this pace. */
export function BurnDown({ status }: { status: BillingStatus }) {
  const query = useBurnDown(status);
  const pace = query.data ? daysAtThisPace(query.data) : null;
  return (
    <ChartCard
      id="burn-down"
      title="Burn-down"
      description={
        pace === null
          ? `At the end of each day since ${formatDate(status.current_period_start)}`
          : `At the current rate, the remaining credits will last ${paceText(pace)}.`
      }
      query={query}
      height={HEIGHT}
      figures={points =>
        timeSeriesFigures({
          ...common,
          series: [...series, { key: 'consumed', label: 'Used that day', ink: 'two' }],
          points,
        })
      }
      isEmpty={points => points.every(({ remaining, consumed }) => remaining === 0 && consumed === 0)}
      empty="No credits in this period yet. Start a trial, choose a plan or top up."
    >
      {points => (
        <TimeSeries
          title="Credits left at the end of each day"
          points={points}
          height={HEIGHT}
          limit={{ value: status.allowance, label: 'After the last grant' }}
          {...common}
        />
      )}
    </ChartCard>
  );
}

/** Reads the balance, the usage by day and the ledger entries that are not charges, as one query. */
function useBurnDown(status: BillingStatus) {
  const trpc = useTRPC();
  const now = useNow();
  // Rounded to the minute: the query must not change with each tick.
  const until = now - (now % 60_000);
  const from = status.current_period_start;
  const options = { staleTime: 30_000 };
  const balances = useQuery(trpc.billing_usage.queryOptions());
  const usage = useQuery(trpc.billing_usage_dimensions.queryOptions({ by: 'day', from, time_zone: 'UTC' }, options));
  const grants = useQuery(trpc.billing_ledger_list.queryOptions({ kind: 'grant', from, limit: 200 }, options));
  const expiries = useQuery(trpc.billing_ledger_list.queryOptions({ kind: 'expiry', from, limit: 200 }, options));
  const refunds = useQuery(trpc.billing_ledger_list.queryOptions({ kind: 'refund', from, limit: 200 }, options));
  const reversals = useQuery(trpc.billing_ledger_list.queryOptions({ kind: 'reversal', from, limit: 200 }, options));
  const queries = [balances, usage, grants, expiries, refunds, reversals];
  const data = useMemo((): BurnDownPoint[] | undefined => {
    const ledgers = [grants.data, expiries.data, refunds.data, reversals.data];
    if (until === 0 || !balances.data || !usage.data || ledgers.some(ledger => !ledger)) return undefined;
    return burnDown({
      from: Date.parse(from),
      now: until,
      remaining: balances.data.total_remaining_microcredits,
      days: usage.data.dimensions.flatMap(({ items }) => items),
      moves: ledgers.flatMap(ledger => ledger?.entries ?? []),
    });
  }, [from, until, balances.data, usage.data, grants.data, expiries.data, refunds.data, reversals.data]);
  const failed = queries.find(query => query.isError);
  return {
    data,
    isError: failed !== undefined,
    error: failed?.error,
    refetch: () => Promise.all(queries.filter(query => query.isError).map(query => query.refetch())),
  };
}
