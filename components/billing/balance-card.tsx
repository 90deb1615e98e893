'use client';
import { useQuery } from '@tanstack/react-query';
import { Plus } from 'lucide-react';
import { useTRPC } from '../trpc/provider.tsx';
import { Button } from '../ui/button.tsx';
import { Card } from '../ui/card.tsx';
import { cx } from '../ui/classes.ts';
import { CopyButton } from '../ui/copy.tsx';
import { Credits, creditsInWords } from '../ui/credits.tsx';
import { Skeleton } from '../ui/skeleton.tsx';
import { ErrorState } from '../ui/states.tsx';
import { AllowanceNotice } from './allowance-notice.tsx';
import type { Balances, BillingStatus } from './wire.ts';
import { formatDate } from './words.ts';

/**
 * The credit accounts, in the order in which they are spent. Each account has its name below the bar, so that color is
 * never the only distinction.
 */
const accounts = [
  { key: 'trial_remaining', label: 'Trial', bar: 'bg-info' },
  { key: 'included_remaining', label: 'Included', bar: 'bg-accent' },
  { key: 'payg_remaining', label: 'Pay-as-you-go', bar: 'bg-ok' },
] as const satisfies readonly { key: keyof Balances; label: string; bar: string }[];

/** The remaining credits, in total and per account, and how to get more. */
export function BalanceCard({ status, onTopUp }: { status: BillingStatus; onTopUp: (() => void) | null }) {
  const trpc = useTRPC();
  const balances = useQuery(trpc.billing_usage.queryOptions(undefined, { refetchInterval: 10_000 }));
  return (
    <Card
      title="Credits left"
      actions={
        <Button
          variant="primary"
          size="sm"
          disabled={!onTopUp}
          icon={<Plus aria-hidden className="size-3.5" />}
          onClick={() => onTopUp?.()}
        >
          Top up
        </Button>
      }
    >
      {balances.data ? (
        <RemainingCredits balances={balances.data} status={status} />
      ) : balances.isError ? (
        <ErrorState error={balances.error} onRetry={() => void balances.refetch()} />
      ) : (
        <div className="flex flex-col gap-3">
          <Skeleton className="h-9 w-44" />
          <Skeleton className="h-2 w-full" />
          <Skeleton className="h-24 w-full" />
        </div>
      )}
    </Card>
  );
}

function RemainingCredits({ balances, status }: { balances: Balances; status: BillingStatus }) {
  const total = balances.total_remaining_microcredits;
  return (
    <div className="flex flex-col gap-3">
      <p className="flex items-center gap-1">
        <Credits value={total} className="text-[28px] leading-9 font-semibold tracking-tight tabular-nums" />
        <span className="self-end pb-1 text-sm text-muted">credits</span>
        <span className="ml-auto">
          <CopyButton text={String(total)} label={`Copy ${total.toLocaleString('en')} microcredits`} />
        </span>
      </p>
      <div aria-hidden className="flex h-2 gap-0.5 overflow-hidden rounded-full bg-active">
        {accounts.map(({ key, bar }) =>
          balances[key] > 0 ? (
            <span key={key} className={cx('min-w-1', bar)} style={{ flexGrow: balances[key] }} />
          ) : null,
        )}
      </div>
      <dl className="flex flex-col">
        {accounts.map(({ key, label, bar }) => (
          <div key={key} className="flex h-8 items-center gap-2 border-b text-sm last:border-b-0">
            <span aria-hidden className={cx('size-2 rounded-full', bar, balances[key] === 0 && 'opacity-30')} />
            <dt className="text-muted">{label}</dt>
            <dd className="ml-auto">
              <Credits value={balances[key]} />
            </dd>
          </div>
        ))}
      </dl>
      <AllowanceNotice status={status} remaining={total} />
      <PeriodUse />
      <p className="text-xs text-muted">
        Spent in this order. 1 credit is 1,000,000 microcredits: {creditsInWords(total, { exact: true })} exactly.
      </p>
    </div>
  );
}

/** The usage of the period so far, and the share of the current project. */
function PeriodUse() {
  const trpc = useTRPC();
  const { data, isError } = useQuery(trpc.billing_summary.queryOptions(undefined, { refetchInterval: 30_000 }));
  // The Usage tab shows the same numbers and their error.
  if (!data) return isError ? null : <Skeleton className="h-4 w-56" />;
  const { tenant, project } = data;
  return (
    <p className="text-xs text-muted">
      Used since {formatDate(tenant.period_start)}: <Credits value={tenant.consumed_microcredits} unit />, of which{' '}
      <Credits value={project.consumed_microcredits} /> in {project.name}.
    </p>
  );
}
