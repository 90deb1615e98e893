'use client';
import { keepPreviousData, useQuery } from '@tanstack/react-query';
import {
  Blocks,
  Bot,
  CircleUser,
  FolderKanban,
  Inbox,
  MessagesSquare,
  Play,
  Plug,
  Waypoints,
  Webhook,
  Workflow,
} from 'lucide-react';
import { usePermissions, useSession } from '../session/session.tsx';
import { useTRPC } from '../trpc/provider.tsx';
import { StatusBadge, shownStatus } from '../ui/status-badge.tsx';
import { RelativeTime } from '../ui/time.tsx';
import { useDebounced } from '../ui/use-debounced.ts';
import type { Entry } from './palette-entries.ts';

/** The maximum number of objects of each kind that the browser searches. */
const LIMIT = 100;
const fresh = { staleTime: 30_000 };

type Ways = { go: (href: string) => () => void; closeThen: (action: () => void) => () => void };

/** Returns the workflows of the project, and entries that start a run. Beyond the first hundred workflows, the server searches too. */
export function useWorkflowEntries(search: string, { go, closeThen }: Ways, onStart: (id: string) => void): Entry[] {
  const trpc = useTRPC();
  const { canWrite } = usePermissions();
  const q = useDebounced(search.trim(), 150);
  const first = useQuery(trpc.workflows_list.queryOptions({ limit: LIMIT, graphs: false }, fresh));
  const hasMore = Boolean(first.data?.next_cursor) && q !== '';
  const others = useQuery(
    trpc.workflows_list.queryOptions(
      { limit: 20, graphs: false, q },
      { enabled: hasMore, placeholderData: keepPreviousData },
    ),
  );
  const all = new Map(
    [...(first.data?.workflows ?? []), ...((hasMore && others.data?.workflows) || [])].map(each => [each.id, each]),
  );
  return [...all.values()].flatMap(({ id, name, status, description, latest_version: version }): Entry[] => [
    {
      id: `workflow ${id}`,
      group: 'Workflows',
      label: name,
      keywords: `${description ?? ''} ${id}`,
      icon: Workflow,
      aside: <StatusBadge kind="workflow" status={status} />,
      run: go(`/workflows/${id}`),
    },
    ...(canWrite && version !== null
      ? [
          {
            id: `start ${id}`,
            group: 'Start a run',
            label: `Run ${name}`,
            keywords: `test ${id}`,
            icon: Play,
            run: closeThen(() => onStart(id)),
          },
        ]
      : []),
  ]);
}

/** Returns the last runs of the workspace, which are found by workflow name, id or status. */
export function useRunEntries({ closeThen }: Ways): Entry[] {
  const trpc = useTRPC();
  const { scope, switchTo } = useSession();
  const { data } = useQuery(trpc.runs_list_tenant.queryOptions({ limit: 50 }));
  return (data?.runs ?? []).map(run => ({
    id: `run ${run.run_id}`,
    group: 'Recent runs',
    label: run.workflow_name,
    keywords: `run ${run.run_id} ${run.status}`,
    icon: Waypoints,
    aside: (
      <>
        <RelativeTime at={run.started_at} />
        <StatusBadge kind="run" status={shownStatus(run)} />
      </>
    ),
    run: closeThen(() =>
      switchTo({ tenant: scope.tenant, project: run.project_id }, `/workflows/${run.workflow_id}/runs/${run.run_id}`),
    ),
  }));
}

/** Returns all other named objects, which are read when a search begins. */
export function useObjectEntries(isSearching: boolean, ways: Ways): Entry[] {
  return [...useToolEntries(isSearching, ways), ...usePeopleEntries(isSearching, ways)];
}

function useToolEntries(isSearching: boolean, { go }: Ways): Entry[] {
  const trpc = useTRPC();
  const { canWrite } = usePermissions();
  const { agents: hasAgents } = useSession().me;
  const input = { limit: LIMIT };
  const builds = { ...fresh, enabled: isSearching && canWrite };
  const agents = useQuery(trpc.agents_list.queryOptions(input, { ...fresh, enabled: isSearching && hasAgents }));
  const connections = useQuery(trpc.connections_list.queryOptions(input, builds));
  const servers = useQuery(trpc.mcp_servers_list.queryOptions(input, builds));
  const instances = useQuery(trpc.mcp_instances_list.queryOptions(input, builds));
  const webhooks = useQuery(trpc.webhooks_list.queryOptions(input, builds));
  return [
    ...named('Agents', Bot, agents.data?.agents, ({ id }) => go(`/agents/${id}`)),
    ...named('Connections', Plug, connections.data?.connections, () => go('/connections')),
    ...named('MCP servers', Blocks, servers.data?.servers, ({ id }) => go(`/mcp-servers/${id}`)),
    ...named('MCP instances', Blocks, instances.data?.instances, ({ id }) => go(`/mcp-servers/instances/${id}`)),
    ...named('Webhooks', Webhook, webhooks.data?.subscriptions, ({ id }) => go(`/webhooks/${id}`)),
  ];
}

function usePeopleEntries(isSearching: boolean, { go, closeThen }: Ways): Entry[] {
  const trpc = useTRPC();
  const { me, scope, switchTo } = useSession();
  const when = { ...fresh, enabled: isSearching };
  const tasks = useQuery(trpc.tasks_list_pending.queryOptions({ limit: LIMIT }, when));
  const members = useQuery(trpc.members_list.queryOptions({ limit: LIMIT }, when));
  const threads = useQuery(
    trpc.chat_list_threads.queryOptions({ limit: LIMIT }, { ...fresh, enabled: isSearching && me.agents }),
  );
  const waiting = tasks.data?.tasks.map(task => ({ ...task, id: `${task.run_id}/${task.task_id}` }));
  const projects = me.tenants.find(({ id }) => id === me.tenant.id)?.projects ?? [];
  return [
    ...named('Inbox', Inbox, waiting, ({ id }) => go(`/inbox/${id}`)),
    ...named(
      'Chats',
      MessagesSquare,
      threads.data?.threads.map(({ id, title }) => ({ id, name: title })),
      ({ id }) => go(`/chat/${id}`),
    ),
    ...named(
      'Members',
      CircleUser,
      members.data?.members.map(({ user_id: id, name, email }) => ({ id, name: name || email })),
      () => go('/settings/members'),
    ),
    ...named('Projects', FolderKanban, projects, ({ id }) =>
      closeThen(() => switchTo({ tenant: scope.tenant, project: id })),
    ),
  ];
}

type Named = { id: string; name: string | null };

function named<T extends Named>(
  group: string,
  icon: Entry['icon'],
  all: readonly T[] | undefined,
  open: (object: T) => () => void,
): Entry[] {
  return (all ?? []).flatMap(object =>
    object.name
      ? [
          {
            id: `${group} ${object.id}`,
            group,
            label: object.name,
            keywords: object.id,
            icon,
            searchedOnly: true,
            run: open(object),
          },
        ]
      : [],
  );
}
