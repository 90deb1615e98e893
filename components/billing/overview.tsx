'use client';
import { useQuery } from '@tanstack/react-query';
import { useState } from 'react';
import { useTRPC } from '../trpc/provider.tsx';
import { Card } from '../ui/card.tsx';
import { Skeleton } from '../ui/skeleton.tsx';
import { ErrorState } from '../ui/states.tsx';
import { useUrlState } from '../ui/use-url-state.ts';
import { ActionPrices } from './action-prices.tsx';
import { BalanceCard } from './balance-card.tsx';
import { BurnDown } from './burn-down.tsx';
import { CancelDialog } from './cancel-dialog.tsx';
import { ChangePlanDialog } from './change-plan-dialog.tsx';
import { CodeCard } from './code-card.tsx';
import { ConvertDialog } from './convert-dialog.tsx';
import { KeepDialog } from './keep-dialog.tsx';
import type { PlanAction } from './plan-actions.ts';
import { PlanCards } from './plan-cards.tsx';
import { SubscribeDialog, TrialDialog } from './plan-dialog.tsx';
import { SubscriptionCard } from './subscription-card.tsx';
import { TopUpDialog } from './top-up-dialog.tsx';
import { useBillingStatus } from './use-billing-status.ts';
import { WhenExhausted } from './when-exhausted.tsx';
import type { BillingStatus, PaymentConfig, Plan } from './wire.ts';

/** The credits, the plan, the plans for sale, the codes and the prices of the workspace. */
export function Overview() {
  const trpc = useTRPC();
  const status = useBillingStatus({ poll: true });
  const plans = useQuery(trpc.billing_plans_list.queryOptions(undefined, { staleTime: 60_000 }));
  const config = useQuery(trpc.payment_config.queryOptions(undefined, { staleTime: 60_000 }));
  const failed = [status, plans, config].find(query => query.isError && !query.data);
  if (failed)
    return (
      <Card flush>
        <ErrorState error={failed.error} onRetry={() => void failed.refetch()} />
      </Card>
    );
  if (!status.data || !plans.data || !config.data) return <OverviewSkeleton />;
  return <Loaded status={status.data} plans={plans.data.plans} config={config.data} />;
}

const TOP = 'grid items-start gap-4 lg:grid-cols-[minmax(300px,2fr)_3fr]';

function Loaded({ status, plans, config }: { status: BillingStatus; plans: readonly Plan[]; config: PaymentConfig }) {
  const { get, set } = useUrlState();
  const [order, setOrder] = useState<{ action: PlanAction; plan: Plan | null } | null>(null);
  const orderPlan = (action: PlanAction, plan: Plan | null) => setOrder({ action, plan });
  return (
    <div className="flex flex-col gap-6">
      <div className={TOP}>
        <div className="flex min-w-0 flex-col gap-4">
          <BalanceCard status={status} onTopUp={() => set({ topup: '1' })} />
          <SubscriptionCard status={status} plans={plans} onAct={orderPlan} />
        </div>
        <div className="flex min-w-0 flex-col gap-4">
          <BurnDown status={status} />
          <CodeCard />
        </div>
      </div>
      <PlanCards plans={plans} status={status} onAct={orderPlan} />
      <div className="grid items-start gap-4 lg:grid-cols-2">
        <ActionPrices description="What each action costs on your plan, in credits." />
        <WhenExhausted status={status} />
      </div>
      {order ? (
        <OrderDialog {...order} status={status} config={config} onClose={() => setOrder(null)} />
      ) : get('topup') === '1' ? (
        <TopUpDialog config={config} onClose={() => set({ topup: '' })} />
      ) : null}
    </div>
  );
}

type OrderProps = {
  action: PlanAction;
  plan: Plan | null;
  status: BillingStatus;
  config: PaymentConfig;
  onClose: () => void;
};

function OrderDialog({ action, plan, ...props }: OrderProps) {
  if (action === 'cancel') return <CancelDialog {...props} />;
  if (action === 'keep') return <KeepDialog {...props} />;
  if (plan === null) return null;
  switch (action) {
    case 'trial':
      return <TrialDialog plan={plan} {...props} />;
    case 'subscribe':
      return <SubscribeDialog plan={plan} {...props} />;
    case 'change':
      return <ChangePlanDialog plan={plan} {...props} />;
    case 'convert':
      return <ConvertDialog plan={plan} {...props} />;
  }
}

function OverviewSkeleton() {
  return (
    <div aria-busy className="flex flex-col gap-6">
      <div className={TOP}>
        <div className="flex flex-col gap-4">
          <Skeleton className="h-80 w-full rounded-lg" />
          <Skeleton className="h-56 w-full rounded-lg" />
        </div>
        <Skeleton className="h-80 w-full rounded-lg" />
      </div>
      <div className="grid gap-3 sm:grid-cols-2 lg:grid-cols-3">
        <Skeleton className="h-44 w-full rounded-lg" />
        <Skeleton className="h-44 w-full rounded-lg" />
        <Skeleton className="h-44 w-full rounded-lg" />
      </div>
    </div>
  );
}
