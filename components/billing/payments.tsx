'use client';
import { keepPreviousData, useQuery } from '@tanstack/react-query';
import { CircleCheck, CircleX, ExternalLink, Hourglass, type LucideIcon, Plus, ReceiptText, Undo2 } from 'lucide-react';
import { useEffect, useRef } from 'react';
import { useTRPC, useTRPCClient } from '../trpc/provider.tsx';
import { Badge, type Tone } from '../ui/badge.tsx';
import { Button } from '../ui/button.tsx';
import { CopyId } from '../ui/copy.tsx';
import { Credits } from '../ui/credits.tsx';
import { ExportButton } from '../ui/export-button.tsx';
import { ListCard } from '../ui/list-card.tsx';
import { formatMoney } from '../ui/money.ts';
import { Select } from '../ui/select.tsx';
import { EmptyState } from '../ui/states.tsx';
import { Td, Tr } from '../ui/table.tsx';
import { RelativeTime } from '../ui/time.tsx';
import { useUrlState } from '../ui/use-url-state.ts';
import { useRefreshBilling } from './use-refresh-billing.ts';
import type { Payment } from './wire.ts';

const looks: Record<Payment['status'], { label: string; tone: Tone; icon: LucideIcon }> = {
  pending: { label: 'Pending', tone: 'warn', icon: Hourglass },
  succeeded: { label: 'Paid', tone: 'ok', icon: CircleCheck },
  failed: { label: 'Failed', tone: 'bad', icon: CircleX },
  cancelled: { label: 'Cancelled', tone: 'neutral', icon: CircleX },
  refunded: { label: 'Refunded', tone: 'info', icon: Undo2 },
};
const kindLabels: Record<Payment['kind'], string> = { topup: 'Top-up', subscription: 'Plan' };
const kinds = ['topup', 'subscription'] as const;

/** Completed and open payments, newest first. */
export function Payments() {
  const trpc = useTRPC();
  const client = useTRPCClient();
  const { get, set } = useUrlState();
  const kind = kinds.find(each => each === get('kind'));
  const cursor = get('cursor');
  const filter = kind ? { kind } : {};
  const list = useQuery(
    trpc.billing_payment_history.queryOptions(
      { limit: 50, ...filter, ...(cursor ? { cursor } : {}) },
      {
        placeholderData: keepPreviousData,
        // A person who has just paid looks for the payment here.
        refetchInterval: ({ state }) =>
          state.data?.payments.some(({ status }) => status === 'pending') ? 5_000 : false,
      },
    ),
  );
  useRefreshWhenSettled(list.data?.payments);
  return (
    <div className="flex flex-col gap-3">
      <div className="flex flex-wrap items-center justify-between gap-2">
        <Select<Payment['kind'] | ''>
          label="Kind"
          className="w-40"
          value={kind ?? ''}
          options={[
            { value: '', label: 'All payments' },
            ...kinds.map(value => ({ value, label: `${kindLabels[value]}s` })),
          ]}
          onChange={next => set({ kind: next, cursor: '' }, { push: true })}
        />
        <ExportButton name="payments" read={() => client.billing_payments_export.query(filter)} />
      </div>
      <ListCard
        label="Payments"
        columns={['For', 'Status', 'Amount', 'Credits', 'Made', 'Settled', 'Reference', 'Invoice']}
        query={list}
        items={list.data?.payments}
        next={list.data?.next_cursor}
        row={payment => <Row key={payment.id} payment={payment} />}
        skeletonRows={3}
        empty={
          <EmptyState
            icon={ReceiptText}
            title={kind ? 'No payment of this kind' : 'No payments yet'}
            action={
              <Button
                icon={<Plus aria-hidden className="size-3.5" />}
                onClick={() => set({ tab: '', kind: '', topup: '1' }, { push: true })}
              >
                Top up
              </Button>
            }
          >
            Top-ups and the periods of a paid plan are listed here, with their invoices.
          </EmptyState>
        }
      />
    </div>
  );
}

/** Reads all of billing again when a payment has arrived, because it changes balances and warnings. */
function useRefreshWhenSettled(payments: readonly Payment[] | undefined): void {
  const refresh = useRefreshBilling();
  const pending = payments?.filter(({ status }) => status === 'pending').length ?? 0;
  const before = useRef(pending);
  useEffect(() => {
    if (pending < before.current) void refresh();
    before.current = pending;
  }, [pending, refresh]);
}

function Row({ payment }: { payment: Payment }) {
  const look = looks[payment.status];
  const Icon = look.icon;
  return (
    <Tr>
      <Td className="max-w-72 min-w-44">
        <span className="block font-medium">{kindLabels[payment.kind]}</span>
        {payment.description === kindLabels[payment.kind] ? null : (
          <span className="block truncate text-xs text-muted" title={payment.description}>
            {payment.description}
          </span>
        )}
      </Td>
      <Td>
        <Badge tone={look.tone} icon={<Icon aria-hidden className="size-3" />}>
          {look.label}
        </Badge>
      </Td>
      <Td className="whitespace-nowrap tabular-nums">
        {formatMoney(payment.amount, payment.currency)}
        {payment.refunded_amount > 0 ? (
          <span className="block text-xs text-muted">
            {formatMoney(payment.refunded_amount, payment.currency)} refunded
          </span>
        ) : null}
      </Td>
      <Td>
        {payment.credits_microcredits > 0 ? (
          <Credits value={payment.credits_microcredits} />
        ) : (
          <span className="text-faint">—</span>
        )}
      </Td>
      <Td>
        <RelativeTime at={payment.created_at} />
      </Td>
      <Td>
        {payment.settled_at ? <RelativeTime at={payment.settled_at} /> : <span className="text-faint">Not yet</span>}
      </Td>
      <Td>
        <CopyId id={payment.id} />
      </Td>
      <Td className="whitespace-nowrap">
        {payment.invoice_url ? (
          <a
            href={payment.invoice_url}
            target="_blank"
            rel="noreferrer"
            className="inline-flex items-center gap-1 text-accent-text hover:underline"
          >
            Invoice
            <ExternalLink aria-hidden className="size-3" />
            <span className="sr-only"> (opens in a new tab)</span>
          </a>
        ) : (
          <span className="text-faint">—</span>
        )}
      </Td>
    </Tr>
  );
}
