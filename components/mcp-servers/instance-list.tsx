'use client';
import { keepPreviousData, useQuery } from '@tanstack/react-query';
import { Boxes, SearchX } from 'lucide-react';
import { useTRPC } from '../trpc/provider.tsx';
import { Badge } from '../ui/badge.tsx';
import { Button } from '../ui/button.tsx';
import { FilterBar } from '../ui/filter-bar.tsx';
import { Link } from '../ui/link.tsx';
import { ListCard } from '../ui/list-card.tsx';
import { SearchInput } from '../ui/search-input.tsx';
import { EmptyState } from '../ui/states.tsx';
import { Td, Tr } from '../ui/table.tsx';
import { RelativeTime } from '../ui/time.tsx';
import { useUrlState } from '../ui/use-url-state.ts';
import type { Instance } from './auth-modes.ts';

export const instanceColumns = ['Name', 'Server', 'Version', 'Tools', 'Connection', 'Profile', 'Created'] as const;

/** The instances of the project, through which its steps call tools. */
export function InstanceList() {
  const trpc = useTRPC();
  const { get, set } = useUrlState();
  const q = get('q');
  const cursor = get('cursor');
  const input = { limit: 50, ...(q ? { q } : {}), ...(cursor ? { cursor } : {}) };
  const list = useQuery(trpc.mcp_instances_list.queryOptions(input, { placeholderData: keepPreviousData }));
  return (
    <>
      <FilterBar>
        <SearchInput label="Instance or server" value={q} onChange={value => set({ q: value, cursor: '' })} />
      </FilterBar>
      <ListCard
        label="MCP instances"
        columns={instanceColumns}
        query={list}
        items={list.data?.instances}
        next={list.data?.next_cursor}
        row={instance => <InstanceRow key={instance.id} instance={instance} />}
        skeletonRows={3}
        empty={
          q || cursor ? (
            <EmptyState
              icon={SearchX}
              title="No instance matches"
              action={<Button onClick={() => set({ q: '', cursor: '' })}>Clear filters</Button>}
            />
          ) : (
            <EmptyState
              icon={Boxes}
              title="No instances in this project"
              action={
                <Button variant="primary" onClick={() => set({ open: 'instance' })}>
                  Create instance
                </Button>
              }
            >
              An instance combines a published server with a connection. Steps in this project call its tools through
              it.
            </EmptyState>
          )
        }
      />
    </>
  );
}

export function InstanceRow({ instance }: { instance: Instance }) {
  const { server, version, effective_version: effective } = instance;
  const needsConnection = server.auth_mode !== 'none' && instance.connection_name === null;
  return (
    <Tr>
      <Td className="max-w-72 min-w-40">
        <Link href={`/mcp-servers/instances/${instance.id}`} className="block truncate font-medium hover:underline">
          {instance.name}
        </Link>
      </Td>
      <Td className="max-w-60">
        <Link href={`/mcp-servers/${server.id}`} className="block truncate text-muted hover:text-text hover:underline">
          {server.name}
        </Link>
      </Td>
      <Td className="whitespace-nowrap text-muted tabular-nums">
        {effective === null ? '—' : `v${effective}`}
        {version === null ? <span className="text-faint"> latest</span> : <span className="text-faint"> pinned</span>}
        {server.status === 'published' ? null : (
          <Badge tone="warn" className="ml-2">
            Server is a draft
          </Badge>
        )}
      </Td>
      <Td className="text-muted tabular-nums">{instance.tool_count}</Td>
      <Td className="max-w-60 text-muted">
        {needsConnection && instance.active_profile_name === null ? (
          <Badge tone="warn">Missing</Badge>
        ) : (
          <span className="block truncate">{instance.connection_name ?? '—'}</span>
        )}
      </Td>
      <Td className="max-w-40 truncate text-muted">{instance.active_profile_name ?? '—'}</Td>
      <Td>
        <RelativeTime at={instance.created_at} />
      </Td>
    </Tr>
  );
}
