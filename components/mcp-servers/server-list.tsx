'use client';
import { keepPreviousData, useQuery } from '@tanstack/react-query';
import { Blocks, CircleAlert, SearchX } from 'lucide-react';
import { useTRPC } from '../trpc/provider.tsx';
import { Badge } from '../ui/badge.tsx';
import { Button } from '../ui/button.tsx';
import { FilterBar } from '../ui/filter-bar.tsx';
import { Link } from '../ui/link.tsx';
import { ListCard } from '../ui/list-card.tsx';
import { SearchInput } from '../ui/search-input.tsx';
import { Select } from '../ui/select.tsx';
import { EmptyState } from '../ui/states.tsx';
import { StatusBadge } from '../ui/status-badge.tsx';
import { Td, Tr } from '../ui/table.tsx';
import { RelativeTime } from '../ui/time.tsx';
import { useUrlState } from '../ui/use-url-state.ts';
import { authModeLabel, type Server } from './auth-modes.ts';

const statuses = [
  { value: '', label: 'Any status' },
  { value: 'draft', label: 'Draft' },
  { value: 'published', label: 'Published' },
] as const;
type Status = (typeof statuses)[number]['value'];

/** Every server of the workspace, with its published version, its number of tools, and its last discovery. */
export function ServerList() {
  const trpc = useTRPC();
  const { get, set } = useUrlState();
  const q = get('q');
  const status = statuses.find(each => each.value === get('status'))?.value ?? '';
  const cursor = get('cursor');
  const input = { limit: 50, ...(q ? { q } : {}), ...(status ? { status } : {}), ...(cursor ? { cursor } : {}) };
  const list = useQuery(trpc.mcp_servers_list.queryOptions(input, { placeholderData: keepPreviousData }));
  return (
    <>
      <FilterBar>
        <SearchInput label="Name or address" value={q} onChange={value => set({ q: value, cursor: '' })} />
        <Select<Status>
          label="Status"
          className="w-36"
          value={status}
          options={statuses}
          onChange={value => set({ status: value, cursor: '' }, { push: true })}
        />
      </FilterBar>
      <ListCard
        label="MCP servers"
        columns={['Name', 'Status', 'Version', 'Tools', 'Instances', 'Sign-in', 'Last discovery']}
        query={list}
        items={list.data?.servers}
        next={list.data?.next_cursor}
        row={server => <Row key={server.id} server={server} />}
        empty={<Nothing filtered={Boolean(q || status || cursor)} />}
        skeletonRows={3}
      />
    </>
  );
}

function Row({ server }: { server: Server }) {
  return (
    <Tr>
      <Td className="max-w-90 min-w-48">
        <Link href={`/mcp-servers/${server.id}`} className="block truncate font-medium hover:underline">
          {server.name}
        </Link>
        <span className="block truncate text-xs text-muted">{server.canonical_url}</span>
      </Td>
      <Td>
        <StatusBadge kind="workflow" status={server.status} />
      </Td>
      <Td className="text-muted tabular-nums">{server.latest_version === null ? '—' : `v${server.latest_version}`}</Td>
      <Td className="text-muted tabular-nums">{server.tool_count}</Td>
      <Td className="text-muted tabular-nums">{server.instance_count}</Td>
      <Td className="text-muted">{authModeLabel(server.auth_mode)}</Td>
      <Td>
        <LastDiscovery server={server} />
      </Td>
    </Tr>
  );
}

function LastDiscovery({ server }: { server: Server }) {
  if (server.last_error !== null)
    return (
      <Badge tone="bad" title={server.last_error} icon={<CircleAlert aria-hidden className="size-3" />}>
        Failed
      </Badge>
    );
  return server.discovered_at === null ? (
    <span className="text-faint">Never</span>
  ) : (
    <RelativeTime at={server.discovered_at} />
  );
}

function Nothing({ filtered }: { filtered: boolean }) {
  const { set } = useUrlState();
  if (filtered)
    return (
      <EmptyState
        icon={SearchX}
        title="No server matches"
        action={<Button onClick={() => set({ q: '', status: '', cursor: '' })}>Clear filters</Button>}
      />
    );
  return (
    <EmptyState
      icon={Blocks}
      title="No MCP servers yet"
      action={
        <>
          <Button onClick={() => set({ open: 'register' })}>Register server</Button>
          <Button variant="primary" onClick={() => set({ open: 'catalog' })}>
            Browse the catalog
          </Button>
        </>
      }
    >
      Register a Model Context Protocol server, discover and publish its tools, and call them from workflow steps.
    </EmptyState>
  );
}
