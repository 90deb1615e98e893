'use client';
import { keepPreviousData, useQuery } from '@tanstack/react-query';
import { Inbox } from 'lucide-react';
import { useTRPC } from '../trpc/provider.tsx';
import { CopyId } from '../ui/copy.tsx';
import { Link } from '../ui/link.tsx';
import { ListCard } from '../ui/list-card.tsx';
import { EmptyState } from '../ui/states.tsx';
import { Td, Tr } from '../ui/table.tsx';
import { formatDuration, RelativeTime } from '../ui/time.tsx';
import { useUrlState } from '../ui/use-url-state.ts';
import { type Delivery, DeliveryBadge } from './delivery-badge.tsx';
import type { Webhook } from './webhook-form.tsx';

/** The latest deliveries, newest first, updated live. */
export function DeliveryTable({ webhook }: { webhook: Webhook }) {
  const trpc = useTRPC();
  const { get } = useUrlState();
  const cursor = get('cursor');
  const list = useQuery(
    trpc.webhooks_deliveries_list.queryOptions(
      { id: webhook.id, limit: 50, ...(cursor ? { cursor } : {}) },
      { refetchInterval: 3_000, placeholderData: keepPreviousData },
    ),
  );
  return (
    <ListCard
      label="Deliveries"
      columns={['Outcome', 'Response', 'What happened', 'Run', 'Size', 'Duration', 'Received']}
      query={list}
      items={list.data?.deliveries}
      next={list.data?.next_cursor}
      row={delivery => <Row key={delivery.id} delivery={delivery} workflowId={webhook.workflow_id} />}
      skeletonRows={3}
      empty={
        <EmptyState icon={Inbox} title="No deliveries yet">
          Deliveries from the sender and test deliveries appear here. Refused ones show the reason.
        </EmptyState>
      }
    />
  );
}

function Row({ delivery, workflowId }: { delivery: Delivery; workflowId: string }) {
  return (
    <Tr>
      <Td>
        <DeliveryBadge outcome={delivery.outcome} />
      </Td>
      <Td className="text-muted tabular-nums">{delivery.http_status}</Td>
      <Td className="max-w-100 min-w-40">
        {delivery.code ? <code className="block text-xs">{delivery.code}</code> : null}
        {delivery.message ? <span className="block text-xs text-muted">{delivery.message}</span> : null}
      </Td>
      <Td className="whitespace-nowrap">
        {delivery.run_id ? (
          <span className="flex items-center gap-2">
            <Link
              href={`/workflows/${workflowId}/runs/${delivery.run_id}`}
              className="text-accent-text hover:underline"
            >
              Open run
            </Link>
            <CopyId id={delivery.run_id} />
          </span>
        ) : (
          <span className="text-faint">—</span>
        )}
      </Td>
      <Td className="whitespace-nowrap text-muted tabular-nums">{formatBytes(delivery.bytes)}</Td>
      <Td className="whitespace-nowrap text-muted tabular-nums">{formatDuration(delivery.duration_ms)}</Td>
      <Td>
        <RelativeTime at={delivery.received_at} />
      </Td>
    </Tr>
  );
}

function formatBytes(bytes: number): string {
  return bytes < 1024 ? `${bytes} B` : `${(bytes / 1024).toFixed(1)} KiB`;
}
