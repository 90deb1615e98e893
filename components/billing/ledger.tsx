'use client';
import { keepPreviousData, useQuery } from '@tanstack/react-query';
import { BookOpenText } from 'lucide-react';
import { useTRPC } from '../trpc/provider.tsx';
import { Badge, type Tone } from '../ui/badge.tsx';
import { Button } from '../ui/button.tsx';
import { Credits } from '../ui/credits.tsx';
import { ListCard } from '../ui/list-card.tsx';
import { PeriodFilter, usePeriod } from '../ui/period-filter.tsx';
import { Select } from '../ui/select.tsx';
import { EmptyState } from '../ui/states.tsx';
import { Td, Tr } from '../ui/table.tsx';
import { RelativeTime } from '../ui/time.tsx';
import { useUrlState } from '../ui/use-url-state.ts';
import type { LedgerEntry } from './wire.ts';

const looks: Record<LedgerEntry['kind'], { label: string; tone: Tone }> = {
  grant: { label: 'Grant', tone: 'ok' },
  charge: { label: 'Charge', tone: 'neutral' },
  expiry: { label: 'Expiry', tone: 'warn' },
  refund: { label: 'Refund', tone: 'info' },
  reversal: { label: 'Reversal', tone: 'bad' },
};
const kinds = Object.keys(looks) as LedgerEntry['kind'][];
const accounts = ['trial', 'included', 'payg', 'consumed', 'expired', 'granted'] as const;

/** The ledger entries. Each entry shows its amount per account; the amounts of an entry add up to zero. */
export function Ledger() {
  const trpc = useTRPC();
  const { get, set } = useUrlState();
  const period = usePeriod();
  const kind = kinds.find(each => each === get('kind'));
  const cursor = get('cursor');
  const list = useQuery(
    trpc.billing_ledger_list.queryOptions(
      { limit: 50, ...period.bounds, ...(kind ? { kind } : {}), ...(cursor ? { cursor } : {}) },
      { placeholderData: keepPreviousData },
    ),
  );
  return (
    <div className="flex flex-col gap-3">
      <div className="flex flex-wrap items-center gap-2">
        <Select<LedgerEntry['kind'] | ''>
          label="Kind"
          className="w-36"
          value={kind ?? ''}
          options={[
            { value: '', label: 'All entries' },
            ...kinds.map(value => ({ value, label: `${looks[value].label}s`.replace(/ys$/, 'ies') })),
          ]}
          onChange={next => set({ kind: next, cursor: '' }, { push: true })}
        />
        <PeriodFilter period={period} />
      </div>
      <ListCard
        label="Ledger"
        columns={['Entry', 'Note', 'Trial', 'Included', 'Pay-as-you-go', 'Consumed', 'Expired', 'Granted', 'When']}
        query={list}
        items={list.data?.entries}
        next={list.data?.next_cursor}
        row={entry => <Row key={entry.id} entry={entry} />}
        empty={
          <EmptyState
            icon={BookOpenText}
            title="No entries"
            action={
              <Button onClick={() => set({ kind: '', period: '', from: '', to: '', cursor: '' })}>
                Show all entries
              </Button>
            }
          >
            Grants, charges, expiries and refunds appear here. Entries never change.
          </EmptyState>
        }
      />
    </div>
  );
}

function Row({ entry }: { entry: LedgerEntry }) {
  const look = looks[entry.kind];
  // Charges are posted hourly, and when the ledger is read.
  const note = entry.note || (entry.kind === 'charge' ? 'Used since the last entry' : '—');
  return (
    <Tr>
      <Td>
        <Badge tone={look.tone}>{look.label}</Badge>
      </Td>
      <Td className="max-w-80 min-w-40">
        <span className="block truncate text-muted" title={note}>
          {note}
        </span>
      </Td>
      {accounts.map(account => (
        <Td key={account}>
          <Added value={entry[account]} />
        </Td>
      ))}
      <Td>
        <RelativeTime at={entry.created_at} />
      </Td>
    </Tr>
  );
}

function Added({ value }: { value: number }) {
  if (value === 0) return <span className="text-faint">0</span>;
  return (
    <span className="whitespace-nowrap tabular-nums">
      {value > 0 ? '+' : null}
      <Credits value={value} />
    </span>
  );
}
