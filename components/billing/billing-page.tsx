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

/** Shows the parts of billing that the deployment's mode allows: everything, usage and prices, or a note that billing is off. */
export function BillingPage() {
  const { billing } = useSession().me;
  const { canWrite } = usePermissions();
  switch (billing) {
    case 'on':
      return canWrite ? <Billing /> : <UsageOnly description="What runs used, in credits." />;
    case 'metered':
      return (
        <UsageOnly description="What runs used and what it cost, in credits. Runs are never refused for lack of credits." />
      );
    case 'off':
      return <BillingOff />;
  }
}

/** Shows the usage and cost of runs to viewers, and to everyone if the deployment sells nothing. */
function UsageOnly({ description }: { description: string }) {
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

function BillingOff() {
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
        // Filters and page belong to one tab, and are cleared when another tab opens.
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

/**
 * Reads the outcome that a bank's page has added to the URL, shows it once, and removes it from the URL, because it
 * contains a secret.
 */
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
