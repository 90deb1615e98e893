'use client';
import { keepPreviousData, useQuery } from '@tanstack/react-query';
import { Plug, X } from 'lucide-react';
import type { ReactNode } from 'react';
import { usePermissions } from '../session/session.tsx';
import { useTRPC } from '../trpc/provider.tsx';
import { Badge } from '../ui/badge.tsx';
import { Button } from '../ui/button.tsx';
import { FilterBar } from '../ui/filter-bar.tsx';
import { ListCard } from '../ui/list-card.tsx';
import { Page, PageHeader } from '../ui/page.tsx';
import { SearchInput } from '../ui/search-input.tsx';
import { Select } from '../ui/select.tsx';
import { EmptyState, NeedsContributor } from '../ui/states.tsx';
import { Td, Tr } from '../ui/table.tsx';
import { RelativeTime } from '../ui/time.tsx';
import { useUrlState } from '../ui/use-url-state.ts';
import { CreateButton } from './connect-account.tsx';
import { ConnectionActions } from './connection-actions.tsx';
import { type Connection, ConnectionStatus, statuses, statusLabel } from './connection-status.tsx';
import { CreateConnectionDialog } from './create-connection.tsx';
import { MessagingAccountDialog } from './messaging-account.tsx';
import { Owner } from './owner.tsx';

/** The connections of the project and the workspace, with their status. */
export function ConnectionList() {
  const { get, set } = useUrlState();
  const { canWrite } = usePermissions();
  const create = (
    <CreateButton onCreate={() => set({ create: 'credentials' })} onMessaging={() => set({ create: 'messaging' })} />
  );
  const close = () => set({ create: '' });
  return (
    <Page>
      <PageHeader
        title="Connections"
        description="Credentials for tools, of this project and shared with the workspace. Secrets are never shown again."
        actions={canWrite ? create : null}
      />
      {canWrite ? (
        <>
          <Filters />
          <Rows create={create} />
        </>
      ) : (
        <NeedsContributor icon={Plug} what="Connections" />
      )}
      {canWrite && get('create') === 'credentials' ? <CreateConnectionDialog onClose={close} /> : null}
      {canWrite && get('create') === 'messaging' ? <MessagingAccountDialog onClose={close} /> : null}
    </Page>
  );
}

type Status = (typeof statuses)[number];

function useFilters() {
  const { get } = useUrlState();
  const status = statuses.find(each => each === get('status'));
  const q = get('q');
  return { ...(q ? { q } : {}), ...(status ? { status } : {}) };
}

function Filters() {
  const { get, set } = useUrlState();
  const filters = useFilters();
  return (
    <FilterBar>
      <SearchInput
        label="Name, provider or service"
        value={get('q')}
        onChange={value => set({ q: value, cursor: '' })}
      />
      <Select<Status | ''>
        label="Status"
        className="w-36"
        value={filters.status ?? ''}
        options={[{ value: '', label: 'Any status' }, ...statuses.map(value => ({ value, label: statusLabel(value) }))]}
        onChange={status => set({ status, cursor: '' }, { push: true })}
      />
      {Object.keys(filters).length > 0 ? (
        <Button
          variant="ghost"
          size="sm"
          icon={<X aria-hidden className="size-3.5" />}
          onClick={() => set({ q: '', status: '', cursor: '' }, { push: true })}
        >
          Clear
        </Button>
      ) : null}
    </FilterBar>
  );
}

function Rows({ create }: { create: ReactNode }) {
  const trpc = useTRPC();
  const { get } = useUrlState();
  const filters = useFilters();
  const cursor = get('cursor');
  const list = useQuery(
    trpc.connections_list.queryOptions(
      { limit: 50, ...filters, ...(cursor ? { cursor } : {}) },
      { placeholderData: keepPreviousData },
    ),
  );
  const filtered = Object.keys(filters).length > 0;
  return (
    <ListCard
      label="Connections"
      columns={['Name', 'Owner', 'Provider', 'Status', 'Credentials', 'Used by', 'Last used', 'Created', '']}
      query={list}
      items={list.data?.connections}
      next={list.data?.next_cursor}
      row={connection => <Row key={connection.id} connection={connection} />}
      skeletonRows={3}
      empty={
        filtered ? (
          <EmptyState icon={Plug} title="No connection matches" />
        ) : (
          <EmptyState icon={Plug} title="No connections yet" action={create}>
            MCP servers, APIs and databases need credentials. Store them here once and use them wherever they are
            needed.
          </EmptyState>
        )
      }
    />
  );
}

function Row({ connection }: { connection: Connection }) {
  const { name, provider, service, account, used_by: uses, last_used_at: lastUsed } = connection;
  const email = typeof account?.email === 'string' ? account.email : null;
  return (
    <Tr>
      <Td className="max-w-72 min-w-40">
        <span className="block truncate font-medium">{name}</span>
        {email && email !== name ? <span className="block truncate text-xs text-muted">{email}</span> : null}
        <span className="block truncate text-xs text-muted" title={connection.origins.join(', ')}>
          {connection.origins.length > 0 ? connection.origins.join(', ') : 'Not sent anywhere yet'}
        </span>
      </Td>
      <Td>
        <Owner owned={connection} />
      </Td>
      <Td className="whitespace-nowrap text-muted">
        {provider} <span className="text-faint">/</span> {service}
      </Td>
      <Td>
        <ConnectionStatus connection={connection} />
      </Td>
      <Td className="max-w-60">
        <span className="flex flex-wrap gap-1">
          {connection.credential_keys.slice(0, 3).map(key => (
            <Badge key={key} className="max-w-36 truncate font-mono">
              {key}
            </Badge>
          ))}
          {connection.credential_keys.length > 3 ? <Badge>+{connection.credential_keys.length - 3}</Badge> : null}
        </span>
      </Td>
      <Td className="whitespace-nowrap text-muted">
        {service === 'llm' ? 'Models' : uses === 0 ? <span className="text-faint">Nothing</span> : places(uses)}
      </Td>
      <Td>{lastUsed ? <RelativeTime at={lastUsed} /> : <span className="text-faint">Never</span>}</Td>
      <Td>
        <RelativeTime at={connection.created_at} />
      </Td>
      <Td className="w-10 text-right">
        <ConnectionActions connection={connection} />
      </Td>
    </Tr>
  );
}

const places = (count: number) => (count === 1 ? '1 instance' : `${count} instances`);
