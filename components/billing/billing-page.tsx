'use client';
import { CreditCard } from 'lucide-react';
import { useEffect } from 'react';
import { usePermissions, useSession } from '../session/session.tsx';
import { Card } from '../ui/card.tsx';
import { Page, PageHeader } from '../ui/page.tsx';
import { EmptyState } from '../ui/states.tsx';
import { Tabs } from '../ui/tabs.tsx';
import { toast } from '../ui/toaster.tsx';
import { useUrlState } from '../ui/use-url-state.ts';
import { ActionPrices } from './action-prices.tsx';
import { Ledger } from './ledger.tsx';
import { Overview } from './overview.tsx';
import { Payments } from './payments.tsx';
import { UsageExplorer } from './usage-explorer.tsx';
import { useRefreshBilling } from './use-refresh-billing.ts';

const tabs = ['overview', 'usage', 'payments', 'ledger'] as const;
type BillingTab = (typeof tabs)[number];

/** Shows as much of billing as the deployment's mode allows: everything, usage and prices, or only that it is off. */
export function BillingPage() {
  const { billing } = useSession().me;
  const { canWrite } = usePermissions();
  switch (billing) {
    case 'on':
      return canWrite ? <Billing /> : <UsageAlone description="What runs used, in credits." />;
    case 'metered':
      return (
        <UsageAlone description="What runs used and what it cost, in credits. Runs are never refused for lack of credits." />
      );
    case 'off':
      return <Off />;
  }
}

/** Shows what runs used and cost, on a deployment that sells nothing, and to viewers, who may see no more. */
function UsageAlone({ description }: { description: string }) {
  const { canWrite } = usePermissions();
  return (
    <Page>
      <PageHeader title="Usage" description={description} />
      <div className="flex flex-col gap-4">
        <UsageExplorer />
        {canWrite ? <ActionPrices description="What each action costs, in credits." /> : null}
      </div>
    </Page>
  );
}

function Off() {
  return (
    <Page>
      <PageHeader title="Billing" />
      <Card>
        <EmptyState icon={CreditCard} title="Billing is off">
          The operator of this service has turned billing off. See Analytics for what runs did.
        </EmptyState>
      </Card>
    </Page>
  );
}

/** Credits, plan, usage and payments of the workspace. */
function Billing() {
  const { get, set } = useUrlState();
  useReturnFromProvider();
  const tab = tabs.find(each => each === get('tab')) ?? 'overview';
  return (
    <Page>
      <PageHeader title="Billing" description="Credits, plan and payments of the workspace." />
      <Tabs<BillingTab>
        label="Billing"
        value={tab}
        // What belongs to one tab (its filters, its page) means nothing on another.
        onChange={next => set({ ...cleared, tab: next }, { push: true })}
        tabs={[
          { value: 'overview', label: 'Overview', content: <Overview /> },
          { value: 'usage', label: 'Usage', content: <UsageExplorer /> },
          { value: 'payments', label: 'Payments', content: <Payments /> },
          { value: 'ledger', label: 'Ledger', content: <Ledger /> },
        ]}
      />
    </Page>
  );
}

const cleared = Object.fromEntries(
  [
    'cursor',
    'kind',
    'period',
    'from',
    'to',
    'by',
    'workflow_id',
    'action',
    'step_type',
    'subject',
    'started_by',
    'topup',
  ].map(key => [key, '']),
);

const returned = [
  'redirect_status',
  'payment_intent',
  'payment_intent_client_secret',
  'setup_intent',
  'setup_intent_client_secret',
];

/** A bank's own page leads back with the outcome in the URL: said once, and taken out of the URL, since it holds a secret. */
function useReturnFromProvider(): void {
  const { get, set } = useUrlState();
  const refresh = useRefreshBilling();
  const outcome = get('redirect_status');
  // biome-ignore lint/correctness/useExhaustiveDependencies: once for each return
  useEffect(() => {
    if (!outcome) return;
    set(Object.fromEntries(returned.map(key => [key, ''])));
    if (outcome === 'failed') toast.error('The payment was not confirmed. You have not been charged.');
    else toast.success('The payment is confirmed', { description: 'It takes effect when Stripe confirms it.' });
    void refresh();
  }, [outcome]);
}
