'use client';
import { keepPreviousData, useQuery } from '@tanstack/react-query';
import { Bell, CircleAlert, CircleCheck, CircleSlash, Clock, type LucideIcon, RotateCw } from 'lucide-react';
import { ScopedLink } from '../session/scoped-link.tsx';
import { type Outputs, useTRPC } from '../trpc/provider.tsx';
import { Badge, type Tone } from '../ui/badge.tsx';
import { ListCard } from '../ui/list-card.tsx';
import { EmptyState } from '../ui/states.tsx';
import { Td, Tr } from '../ui/table.tsx';
import { RelativeTime } from '../ui/time.tsx';
import { useUrlState } from '../ui/use-url-state.ts';
import { headlineOf, pageOf } from './headline.ts';

type Delivery = Outputs['me_notifications_deliveries_list']['deliveries'][number];
type Look = { label: string; tone: Tone; icon: LucideIcon };

const looks: Record<Exclude<Delivery['state'], 'pending'>, Look> = {
  delivered: { label: 'Delivered', tone: 'ok', icon: CircleCheck },
  failed: { label: 'Failed', tone: 'bad', icon: CircleAlert },
  skipped: { label: 'Skipped', tone: 'neutral', icon: CircleSlash },
};
const waiting: Look = { label: 'Queued', tone: 'info', icon: Clock };
const retrying: Look = { label: 'Retrying', tone: 'warn', icon: RotateCw };
const channels: Record<Delivery['channel'], string> = { browser: 'Browser', email: 'Email', webhook: 'Webhook' };

/** The user's notifications, newest first, with the outcome of each. */
export function RecentDeliveries() {
  const trpc = useTRPC();
  const { get } = useUrlState();
  const cursor = get('cursor');
  const list = useQuery(
    trpc.me_notifications_deliveries_list.queryOptions(
      { limit: 20, ...(cursor ? { cursor } : {}) },
      { refetchInterval: 5_000, placeholderData: keepPreviousData },
    ),
  );
  return (
    <ListCard
      label="Recent notifications"
      columns={['State', 'About', 'Channel', 'When']}
      query={list}
      items={list.data?.deliveries}
      next={list.data?.next_cursor}
      row={delivery => <Row key={`${delivery.run_id}/${delivery.task_id}/${delivery.channel}`} delivery={delivery} />}
      skeletonRows={3}
      empty={
        <EmptyState icon={Bell} title="No notifications yet">
          Choose a channel above. Your notifications will appear here.
        </EmptyState>
      }
    />
  );
}

function Row({ delivery }: { delivery: Delivery }) {
  const { state, attempts, reason, channel } = delivery;
  const { label, tone, icon: Icon } = state === 'pending' ? (attempts === 0 ? waiting : retrying) : looks[state];
  return (
    <Tr>
      <Td className="min-w-40 py-2">
        <span className="flex flex-wrap items-center gap-2">
          <Badge tone={tone} icon={<Icon aria-hidden className="size-3" />}>
            {label}
          </Badge>
          {attempts > 1 ? <span className="text-xs text-muted">{attempts} attempts</span> : null}
        </span>
        {reason ? <span className="mt-0.5 block text-xs text-muted">{reason}</span> : null}
        {delivery.next_attempt_at ? (
          <span className="mt-0.5 block text-xs text-muted">
            {attempts === 0 ? 'Due ' : 'Next attempt '}
            <RelativeTime at={delivery.next_attempt_at} />
          </span>
        ) : null}
      </Td>
      <Td className="max-w-72 min-w-44">
        <ScopedLink
          href={pageOf(delivery)}
          project={delivery.project_id}
          className="line-clamp-2 font-medium hover:underline"
        >
          {headlineOf(delivery)}
        </ScopedLink>
      </Td>
      <Td className="text-muted">{channels[channel]}</Td>
      <Td className="whitespace-nowrap">
        <RelativeTime at={delivery.created_at} />
      </Td>
    </Tr>
  );
}
