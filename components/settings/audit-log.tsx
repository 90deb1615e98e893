'use client';
import { keepPreviousData, useQuery } from '@tanstack/react-query';
import { History } from 'lucide-react';
import { usePermissions } from '../session/session.tsx';
import { useTRPC, useTRPCClient } from '../trpc/provider.tsx';
import { Card } from '../ui/card.tsx';
import { ExportButton } from '../ui/export-button.tsx';
import { FilterBar } from '../ui/filter-bar.tsx';
import { isId } from '../ui/is-id.ts';
import { ListCard } from '../ui/list-card.tsx';
import { Page, PageHeader } from '../ui/page.tsx';
import { PeriodFilter, usePeriod } from '../ui/period-filter.tsx';
import { SearchInput } from '../ui/search-input.tsx';
import { Select } from '../ui/select.tsx';
import { EmptyState } from '../ui/states.tsx';
import { useUrlState } from '../ui/use-url-state.ts';
import { AuditRow } from './audit-row.tsx';

/** Shows administrators the changes in the workspace: who changed what, and how. */
export function AuditLog() {
  const { isAdmin } = usePermissions();
  return (
    <Page>
      {isAdmin ? (
        <AuditEntries />
      ) : (
        <>
          <PageHeader title="Audit log" />
          <Card>
            <EmptyState icon={History} title="The audit log is for administrators">
              Ask a workspace admin if you need something from it.
            </EmptyState>
          </Card>
        </>
      )}
    </Page>
  );
}

/** Reads the filters from the URL in the form of the API. Malformed values are ignored. */
function useAuditFilters() {
  const { get } = useUrlState();
  const period = usePeriod();
  const [user, target] = [get('user'), get('target').trim()];
  const outcome = (['ok', 'refused'] as const).find(each => each === get('outcome'));
  const filters = {
    ...period.bounds,
    ...(isId(user) ? { user_id: user } : {}),
    ...(target === '' ? {} : { target: target.slice(0, 100) }),
    ...(outcome === undefined ? {} : { outcome }),
  };
  return { period, filters, user, target, outcome };
}

function AuditEntries() {
  const trpc = useTRPC();
  const client = useTRPCClient();
  const { get } = useUrlState();
  const { filters } = useAuditFilters();
  const cursor = get('cursor');
  const list = useQuery(
    trpc.audit_log_list.queryOptions(
      { limit: 50, ...filters, ...(cursor ? { cursor } : {}) },
      { placeholderData: keepPreviousData },
    ),
  );
  return (
    <>
      <PageHeader
        title="Audit log"
        description="Everything that was changed in this workspace, newest first."
        actions={<ExportButton name="audit-log" read={() => client.audit_log_export.query(filters)} />}
      />
      <Filters />
      <ListCard
        label="Audit log"
        columns={['When', 'Who', 'What', 'About', 'Through', 'Outcome']}
        query={list}
        items={list.data?.entries}
        next={list.data?.next_cursor}
        row={entry => <AuditRow key={entry.id} entry={entry} />}
        empty={
          <EmptyState icon={History} title="No entries">
            {Object.keys(filters).length > 0
              ? 'Nothing matches these filters.'
              : 'Changes in this workspace appear here.'}
          </EmptyState>
        }
      />
    </>
  );
}

function Filters() {
  const trpc = useTRPC();
  const { set } = useUrlState();
  const { period, user, target, outcome } = useAuditFilters();
  const members = useQuery(trpc.members_list.queryOptions({ limit: 100 }));
  const change = (patch: Record<string, string>) => set({ ...patch, cursor: '' }, { push: true });
  return (
    <FilterBar>
      <SearchInput label="ID of what was changed" value={target} onChange={text => change({ target: text })} />
      <Select
        label="Person"
        className="w-52"
        value={user}
        options={[
          { value: '', label: 'Everyone' },
          ...(members.data?.members ?? []).map(({ user_id, name }) => ({ value: user_id, label: name })),
        ]}
        onChange={person => change({ user: person })}
      />
      <Select<'' | 'ok' | 'refused'>
        label="Outcome"
        className="w-40"
        value={outcome ?? ''}
        options={[
          { value: '', label: 'Any outcome' },
          { value: 'ok', label: 'Done' },
          { value: 'refused', label: 'Refused or failed' },
        ]}
        onChange={choice => change({ outcome: choice })}
      />
      <PeriodFilter period={period} />
    </FilterBar>
  );
}
