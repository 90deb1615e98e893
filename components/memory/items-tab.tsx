'use client';
import { keepPreviousData, useQuery } from '@tanstack/react-query';
import { Brain } from 'lucide-react';
import { useTRPC } from '../trpc/provider.tsx';
import { Button } from '../ui/button.tsx';
import { ListCard } from '../ui/list-card.tsx';
import { SearchInput } from '../ui/search-input.tsx';
import { Select } from '../ui/select.tsx';
import { EmptyState } from '../ui/states.tsx';
import { Td, Tr } from '../ui/table.tsx';
import { RelativeTime } from '../ui/time.tsx';
import { useUrlState } from '../ui/use-url-state.ts';
import { PinBadge, StatusBadge, TrustBadge } from './badges.tsx';
import {
  type Item,
  kindLabels,
  kinds,
  type Status,
  statuses,
  statusLabels,
  type Visibility,
  visibilities,
  visibilityLabels,
} from './words.ts';

function useFilters() {
  const { get } = useUrlState();
  const status = statuses.find(each => each === get('status'));
  const visibility = visibilities.find(each => each === get('scope'));
  const kind = kinds.find(each => each === get('kind'));
  const subject = get('subject').slice(0, 200);
  return {
    ...(status ? { status } : {}),
    ...(visibility ? { visibility } : {}),
    ...(kind ? { kind } : {}),
    ...(subject.trim() === '' ? {} : { subject }),
  };
}

/** Lists the items that the reader sees, newest first. */
export function ItemsTab() {
  const trpc = useTRPC();
  const { get, set } = useUrlState();
  const filters = useFilters();
  const cursor = get('cursor');
  const list = useQuery(
    trpc.memory_items_list.queryOptions(
      { limit: 50, ...filters, ...(cursor ? { cursor } : {}) },
      { placeholderData: keepPreviousData },
    ),
  );
  const filtered = Object.keys(filters).length > 0;
  return (
    <>
      <Filters />
      <ListCard
        label="Items"
        columns={['Item', 'Kind', 'Visible to', 'Status', 'Used', 'Since']}
        query={list}
        items={list.data?.items}
        next={list.data?.next_cursor}
        row={item => <Row key={item.id} item={item} />}
        empty={
          filtered ? (
            <EmptyState icon={Brain} title="No item matches" />
          ) : (
            <EmptyState
              icon={Brain}
              title="No memories yet"
              action={<Button onClick={() => set({ open: 'remember' })}>Remember something</Button>}
            >
              Add what Baton should know, or let programs and agents propose it.
            </EmptyState>
          )
        }
      />
    </>
  );
}

function Filters() {
  const { get, set } = useUrlState();
  const filters = useFilters();
  const change = (patch: Record<string, string>) => set({ ...patch, cursor: '' }, { push: true });
  return (
    <div className="mb-3 flex flex-wrap items-center gap-2">
      <SearchInput label="Subject" value={get('subject')} onChange={subject => set({ subject, cursor: '' })} />
      <Select<Status | ''>
        label="Status"
        className="w-40"
        value={filters.status ?? ''}
        options={[
          { value: '', label: 'Any status' },
          ...statuses.map(value => ({ value, label: statusLabels[value].label })),
        ]}
        onChange={status => change({ status })}
      />
      <Select<Item['kind'] | ''>
        label="Kind"
        className="w-36"
        value={filters.kind ?? ''}
        options={[{ value: '', label: 'Any kind' }, ...kinds.map(value => ({ value, label: kindLabels[value] }))]}
        onChange={kind => change({ kind })}
      />
      <Select<Visibility | ''>
        label="Visible to"
        className="w-40"
        value={filters.visibility ?? ''}
        options={[
          { value: '', label: 'Visible to everyone' },
          ...visibilities.map(value => ({ value, label: visibilityLabels[value] })),
        ]}
        onChange={scope => change({ scope })}
      />
    </div>
  );
}

function Row({ item }: { item: Item }) {
  const { set } = useUrlState();
  return (
    <Tr>
      <Td className="max-w-120 min-w-60">
        <button
          type="button"
          className="block w-full text-left hover:underline"
          onClick={() => set({ item: item.id }, { push: true })}
        >
          <span className="block truncate text-xs text-muted">{item.subject}</span>
          <span className="block truncate">{item.text}</span>
        </button>
      </Td>
      <Td className="whitespace-nowrap text-muted">{kindLabels[item.kind]}</Td>
      <Td className="whitespace-nowrap text-muted">{visibilityLabels[item.visibility]}</Td>
      <Td>
        <span className="flex gap-1">
          <StatusBadge status={item.status} />
          <PinBadge pinned={item.pinned} />
          <TrustBadge trust={item.trust} />
        </span>
      </Td>
      <Td className="text-muted tabular-nums">
        {item.uses === 0 ? <span className="text-faint">Never</span> : item.uses}
      </Td>
      <Td>
        <RelativeTime at={item.created_at} />
      </Td>
    </Tr>
  );
}
