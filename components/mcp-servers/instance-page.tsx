'use client';
import { useMutation, useQuery } from '@tanstack/react-query';
import { Blocks, ListChecks, Workflow } from 'lucide-react';
import type { Json } from '@/server/platform/json.ts';
import { usePermissions } from '../session/session.tsx';
import { useTRPC, useTRPCClient } from '../trpc/provider.tsx';
import { Badge } from '../ui/badge.tsx';
import { Button } from '../ui/button.tsx';
import { Card } from '../ui/card.tsx';
import { CopyId } from '../ui/copy.tsx';
import { JsonTree } from '../ui/json-tree.tsx';
import { Link } from '../ui/link.tsx';
import { Page, PageHeader, PageSkeleton } from '../ui/page.tsx';
import { Skeleton } from '../ui/skeleton.tsx';
import { EmptyState, ErrorState, FormError, NeedsContributor } from '../ui/states.tsx';
import { Tabs } from '../ui/tabs.tsx';
import { RelativeTime } from '../ui/time.tsx';
import { useCursorPages } from '../ui/use-cursor-pages.ts';
import { useUrlState } from '../ui/use-url-state.ts';
import type { InstanceDetail } from './auth-modes.ts';
import { CheckList } from './check-list.tsx';
import { InstanceActions } from './instance-actions.tsx';
import { ProfileList } from './profile-list.tsx';
import { ToolList } from './tool-list.tsx';

const parent = { href: '/mcp-servers?view=instances', label: 'MCP instances' };

/** One instance: its server and connection, its profiles, its tools, its users, and its validation. */
export function InstancePage({ id }: { id: string }) {
  const trpc = useTRPC();
  const { canWrite } = usePermissions();
  const query = useQuery(trpc.mcp_instances_get.queryOptions({ id }, { enabled: canWrite }));
  if (!canWrite)
    return (
      <Page>
        <PageHeader title="MCP instance" parent={parent} />
        <NeedsContributor icon={Blocks} what="MCP servers" />
      </Page>
    );
  if (query.data) return <Loaded instance={query.data} />;
  if (!query.isError) return <PageSkeleton />;
  return (
    <Page>
      <PageHeader title="MCP instance" parent={parent} />
      <Card flush>
        <ErrorState error={query.error} onRetry={() => void query.refetch()} />
      </Card>
    </Page>
  );
}

const tabNames = ['overview', 'profiles', 'tools'] as const;
type TabName = (typeof tabNames)[number];

function Loaded({ instance }: { instance: InstanceDetail }) {
  const { get, set } = useUrlState();
  const tab = tabNames.find(name => name === get('tab')) ?? 'overview';
  return (
    <Page>
      <PageHeader parent={parent} title={instance.name} actions={<InstanceActions instance={instance} />} />
      <Tabs<TabName>
        label="Instance"
        value={tab}
        onChange={next => set({ tab: next === 'overview' ? '' : next }, { push: true })}
        tabs={[
          { value: 'overview', label: 'Overview', content: <Overview instance={instance} /> },
          { value: 'profiles', label: 'Profiles', content: <ProfileList instance={instance} /> },
          { value: 'tools', label: `Tools (${instance.tool_count})`, content: <InstanceTools instance={instance} /> },
        ]}
      />
    </Page>
  );
}

function Overview({ instance }: { instance: InstanceDetail }) {
  return (
    <div className="grid items-start gap-4 lg:grid-cols-2">
      <Card title="Instance" className="min-w-0">
        <Details instance={instance} />
      </Card>
      <Validate instance={instance} />
      <Card
        title="Used by"
        description="Workflows that call it in the draft or the latest version."
        className="min-w-0"
      >
        <UsedBy instance={instance} />
      </Card>
      <Card title="Settings" className="min-w-0">
        {Object.keys(instance.config).length === 0 ? (
          <p className="text-sm text-muted">None. Edit the instance to add headers or default arguments.</p>
        ) : (
          <JsonTree value={instance.config as Json} label="Settings" />
        )}
      </Card>
    </div>
  );
}

function Details({ instance }: { instance: InstanceDetail }) {
  const { server, version, effective_version: effective } = instance;
  return (
    <dl className="grid grid-cols-[7rem_minmax(0,1fr)] items-center gap-x-4 gap-y-2 text-sm [&_dt]:text-muted">
      <dt>Server</dt>
      <dd>
        <Link href={`/mcp-servers/${server.id}`} className="text-accent-text hover:underline">
          {server.name}
        </Link>
        {server.status === 'published' ? null : (
          <Badge tone="warn" className="ml-2">
            Draft: cannot be called
          </Badge>
        )}
      </dd>
      <dt>Version</dt>
      <dd>
        {effective === null ? 'None published' : `Version ${effective}`}{' '}
        <span className="text-muted">{version === null ? '(the latest)' : '(pinned)'}</span>
      </dd>
      <dt>Connection</dt>
      <dd className="wrap-anywhere">{instance.connection_name ?? 'None'}</dd>
      <dt>Profile</dt>
      <dd className="wrap-anywhere">{instance.active_profile_name ?? 'None active'}</dd>
      <dt>Instance ID</dt>
      <dd>
        <CopyId id={instance.id} full className="text-left break-all" />
      </dd>
      <dt>Created</dt>
      <dd>
        <RelativeTime at={instance.created_at} />
      </dd>
    </dl>
  );
}

function Validate({ instance }: { instance: InstanceDetail }) {
  const trpc = useTRPC();
  const validate = useMutation(trpc.mcp_instances_validate.mutationOptions());
  return (
    <Card
      title="Validate"
      description="Calls the server the way a step does."
      className="min-w-0"
      actions={
        <Button
          size="sm"
          icon={<ListChecks aria-hidden className="size-3.5" />}
          pending={validate.isPending}
          onClick={() => validate.mutate({ id: instance.id })}
        >
          Run checks
        </Button>
      }
    >
      <FormError error={validate.error} />
      {validate.data ? (
        <CheckList label="Checks of the instance" report={validate.data} />
      ) : validate.isPending ? (
        <Skeleton className="h-40 w-full" />
      ) : validate.error ? null : (
        <p className="text-sm text-muted">Not checked yet.</p>
      )}
    </Card>
  );
}

function UsedBy({ instance }: { instance: InstanceDetail }) {
  if (instance.used_by.length === 0)
    return (
      <p className="text-sm text-muted">
        No workflow uses it yet. An <code>mcp_call</code> step names its ID in <code>instance_id</code>.
      </p>
    );
  return (
    <ul className="flex flex-col gap-2 text-sm">
      {instance.used_by.map(use => (
        <li key={use.workflow_id} className="flex flex-wrap items-center gap-2">
          <Workflow aria-hidden className="size-3.5 text-faint" />
          <Link href={`/workflows/${use.workflow_id}`} className="truncate text-accent-text hover:underline">
            {use.name}
          </Link>
          {use.draft ? <Badge>Draft</Badge> : null}
          {use.published ? <Badge tone="ok">Published</Badge> : null}
        </li>
      ))}
    </ul>
  );
}

function InstanceTools({ instance }: { instance: InstanceDetail }) {
  const trpc = useTRPC();
  const client = useTRPCClient();
  const list = useCursorPages([...trpc.mcp_tools_list.pathKey(), instance.id], from =>
    client.mcp_tools_list.query({ instance_id: instance.id, limit: 200, ...from }),
  );
  if (list.isPending) return <Skeleton className="h-60 w-full" />;
  if (list.isError) return <ErrorState error={list.error} onRetry={() => void list.refetch()} />;
  const tools = list.data.pages.flatMap(page => page.tools);
  if (tools.length === 0)
    return (
      <Card flush>
        <EmptyState icon={ListChecks} title="No tools">
          The server has no published version at its current address.
        </EmptyState>
      </Card>
    );
  return (
    <div className="flex flex-col gap-3">
      <ToolList label="Tools of the instance" tools={tools} />
      {list.hasNextPage ? (
        <Button className="self-start" pending={list.isFetchingNextPage} onClick={() => void list.fetchNextPage()}>
          More tools
        </Button>
      ) : null}
    </div>
  );
}
