'use client';
import { keepPreviousData, useQuery } from '@tanstack/react-query';
import { Plus, Webhook as WebhookIcon } from 'lucide-react';
import type { ReactNode } from 'react';
import { usePermissions } from '../session/session.tsx';
import { useTRPC } from '../trpc/provider.tsx';
import { Button } from '../ui/button.tsx';
import { Link } from '../ui/link.tsx';
import { ListCard } from '../ui/list-card.tsx';
import { Page, PageHeader } from '../ui/page.tsx';
import { EmptyState, NeedsContributor } from '../ui/states.tsx';
import { Td, Tr } from '../ui/table.tsx';
import { RelativeTime } from '../ui/time.tsx';
import { useUrlState } from '../ui/use-url-state.ts';
import { CreateWebhookDialog } from './create-webhook.tsx';
import { DeliveryBadge } from './delivery-badge.tsx';
import { PresetSummary } from './preset-fields.tsx';
import { WebhookActions } from './webhook-actions.tsx';
import type { Webhook } from './webhook-form.tsx';
import { WebhookState } from './webhook-state.tsx';

/** Every webhook of the project, with its latest deliveries. */
export function WebhookList() {
  const { get, set } = useUrlState();
  const { canWrite } = usePermissions();
  const create = (
    <Button variant="primary" icon={<Plus aria-hidden className="size-3.5" />} onClick={() => set({ create: '1' })}>
      Create webhook
    </Button>
  );
  return (
    <Page>
      <PageHeader
        title="Webhooks"
        description="Let other systems start workflows with signed requests."
        actions={canWrite ? create : null}
      />
      {canWrite ? <Rows create={create} /> : <NeedsContributor icon={WebhookIcon} what="Webhooks" />}
      {canWrite && get('create') === '1' ? <CreateWebhookDialog onClose={() => set({ create: '' })} /> : null}
    </Page>
  );
}

function Rows({ create }: { create: ReactNode }) {
  const trpc = useTRPC();
  const { get } = useUrlState();
  const cursor = get('cursor');
  const list = useQuery(
    trpc.webhooks_list.queryOptions(
      { limit: 50, ...(cursor ? { cursor } : {}) },
      { refetchInterval: 5_000, placeholderData: keepPreviousData },
    ),
  );
  return (
    <ListCard
      label="Webhooks"
      columns={['Name', 'State', 'Authentication', 'Workflow', 'Last delivery', 'Created', '']}
      query={list}
      items={list.data?.subscriptions}
      next={list.data?.next_cursor}
      row={webhook => <Row key={webhook.id} webhook={webhook} />}
      skeletonRows={3}
      empty={
        <EmptyState icon={WebhookIcon} title="No webhooks yet" action={create}>
          Post JSON to a webhook from a shop, a form, a repository or a scheduler to start a run with it.
        </EmptyState>
      }
    />
  );
}

function Row({ webhook }: { webhook: Webhook }) {
  const last = webhook.last_delivery;
  return (
    <Tr>
      <Td className="max-w-72 min-w-40">
        <Link href={`/webhooks/${webhook.id}`} className="block truncate font-medium hover:underline">
          {webhook.name}
        </Link>
      </Td>
      <Td>
        <WebhookState enabled={webhook.enabled} />
      </Td>
      <Td className="max-w-64">
        <PresetSummary preset={webhook.preset} />
      </Td>
      <Td className="max-w-60 min-w-32">
        <Link href={`/workflows/${webhook.workflow_id}`} className="block truncate text-muted hover:underline">
          {webhook.workflow_name}
        </Link>
      </Td>
      <Td>
        {last ? (
          <span className="flex items-center gap-2">
            <DeliveryBadge outcome={last.outcome} />
            <RelativeTime at={last.received_at} />
          </span>
        ) : (
          <span className="text-faint">Never</span>
        )}
      </Td>
      <Td>
        <RelativeTime at={webhook.created_at} />
      </Td>
      <Td className="w-10 text-right">
        <WebhookActions webhook={webhook} />
      </Td>
    </Tr>
  );
}
