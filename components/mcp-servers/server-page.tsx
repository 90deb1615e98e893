'use client';
import { useQuery } from '@tanstack/react-query';
import { Blocks, Radar, Rocket } from 'lucide-react';
import { useState } from 'react';
import { usePermissions } from '../session/session.tsx';
import { useTRPC } from '../trpc/provider.tsx';
import { Button } from '../ui/button.tsx';
import { Card } from '../ui/card.tsx';
import { CopyId } from '../ui/copy.tsx';
import { Link } from '../ui/link.tsx';
import { Page, PageHeader, PageSkeleton } from '../ui/page.tsx';
import { EmptyState, ErrorState, NeedsContributor } from '../ui/states.tsx';
import { StatusBadge } from '../ui/status-badge.tsx';
import { Tabs } from '../ui/tabs.tsx';
import { RelativeTime } from '../ui/time.tsx';
import { useUrlState } from '../ui/use-url-state.ts';
import { authModeLabel, type ServerDetail } from './auth-modes.ts';
import { CatalogDiff } from './catalog-diff.tsx';
import { DiscoverDialog } from './discover-dialog.tsx';
import { PublishDialog } from './publish-dialog.tsx';
import { ServerActions } from './server-actions.tsx';
import { ServerInstances } from './server-instances.tsx';
import { ToolList } from './tool-list.tsx';
import { ValidateServer } from './validate-server.tsx';
import { VersionList } from './version-list.tsx';

const parent = { href: '/mcp-servers', label: 'MCP servers' };

/** The page of a server: its tools, unpublished changes, versions, instances, and validation. */
export function ServerPage({ id }: { id: string }) {
  const trpc = useTRPC();
  const { canWrite } = usePermissions();
  const query = useQuery(trpc.mcp_servers_get.queryOptions({ id }, { enabled: canWrite }));
  if (!canWrite)
    return (
      <Page>
        <PageHeader title="MCP server" parent={parent} />
        <NeedsContributor icon={Blocks} what="MCP servers" />
      </Page>
    );
  if (query.data) return <Loaded server={query.data} />;
  if (!query.isError) return <PageSkeleton />;
  return (
    <Page>
      <PageHeader title="MCP server" parent={parent} />
      <Card flush>
        <ErrorState error={query.error} onRetry={() => void query.refetch()} />
      </Card>
    </Page>
  );
}

const tabNames = ['tools', 'versions', 'instances', 'validate'] as const;
type TabName = (typeof tabNames)[number];

function Loaded({ server }: { server: ServerDetail }) {
  const { get, set } = useUrlState();
  const [open, setOpen] = useState<'discover' | 'publish' | null>(null);
  const tab = tabNames.find(name => name === get('tab')) ?? 'tools';
  const close = () => setOpen(null);
  return (
    <Page>
      <PageHeader
        parent={parent}
        title={
          <span className="flex flex-wrap items-center gap-2">
            {server.name}
            <StatusBadge kind="workflow" status={server.status} />
            {server.latest_version === null ? null : (
              <span className="text-sm font-normal text-muted tabular-nums">v{server.latest_version}</span>
            )}
          </span>
        }
        actions={
          <>
            <Button icon={<Radar aria-hidden className="size-3.5" />} onClick={() => setOpen('discover')}>
              Discover tools
            </Button>
            <Button
              variant="primary"
              icon={<Rocket aria-hidden className="size-3.5" />}
              disabled={server.discovered === null}
              title={server.discovered === null ? 'Discover the tools first.' : undefined}
              onClick={() => setOpen('publish')}
            >
              Publish
            </Button>
            <ServerActions server={server} />
          </>
        }
      />
      <Facts server={server} />
      <Tabs<TabName>
        label="Server"
        value={tab}
        onChange={next => set({ tab: next === 'tools' ? '' : next }, { push: true })}
        tabs={[
          { value: 'tools', label: `Tools (${server.tool_count})`, content: <Tools server={server} /> },
          { value: 'versions', label: 'Versions', content: <VersionList server={server} /> },
          {
            value: 'instances',
            label: `Instances (${server.instance_count})`,
            content: <ServerInstances server={server} />,
          },
          { value: 'validate', label: 'Validate', content: <ValidateServer server={server} /> },
        ]}
      />
      {open === 'discover' ? <DiscoverDialog server={server} onClose={close} /> : null}
      {open === 'publish' ? <PublishDialog server={server} onClose={close} /> : null}
    </Page>
  );
}

function Facts({ server }: { server: ServerDetail }) {
  return (
    <div className="mb-4 flex flex-col gap-2">
      <dl className="flex flex-wrap items-center gap-x-5 gap-y-1 text-xs text-muted [&_dt]:sr-only">
        <dt>Address</dt>
        <dd className="font-mono break-all">{server.canonical_url}</dd>
        <dt>Sign-in</dt>
        <dd>Sign-in: {authModeLabel(server.auth_mode)}</dd>
        <dt>Service</dt>
        <dd>
          Service: <code>{server.service}</code>
        </dd>
        <dt>Last discovery</dt>
        <dd>
          {server.discovered_at === null ? (
            'Never discovered'
          ) : (
            <>
              Discovered <RelativeTime at={server.discovered_at} />
            </>
          )}
        </dd>
        <dt>ID</dt>
        <dd>
          <CopyId id={server.id} />
        </dd>
      </dl>
      {server.last_error === null ? null : (
        <p
          role="alert"
          className="rounded-md border border-bad/40 bg-bad-soft px-3 py-2 text-sm wrap-anywhere text-bad"
        >
          The last discovery failed: {server.last_error}
        </p>
      )}
    </div>
  );
}

function Tools({ server }: { server: ServerDetail }) {
  const { discovered } = server;
  if (discovered === null)
    return (
      <Card flush>
        <EmptyState icon={Radar} title="No tools discovered yet">
          “Discover tools” asks the server for its tools. They are kept here until you publish them.
        </EmptyState>
      </Card>
    );
  const { instructions, name, version, protocol_version: protocol } = discovered.server_info;
  return (
    <div className="grid gap-4 lg:grid-cols-[minmax(0,1fr)_20rem]">
      <ToolList label="Discovered tools" tools={discovered.tools} />
      <div className="flex min-w-0 flex-col gap-4">
        <Card title="To publish">
          <CatalogDiff diff={discovered.diff} />
        </Card>
        <Card title="Server">
          <p className="text-sm wrap-anywhere text-muted">
            {name} {version}, MCP {protocol}
          </p>
          {instructions ? <p className="mt-2 text-sm wrap-anywhere whitespace-pre-wrap">{instructions}</p> : null}
          {discovered.warnings.length > 0 ? (
            <ul aria-label="Warnings" className="mt-2 list-disc pl-4 text-sm wrap-anywhere text-warn">
              {discovered.warnings.map(warning => (
                <li key={warning}>{warning}</li>
              ))}
            </ul>
          ) : null}
          {server.latest_version === null ? null : (
            <Link
              href={`/mcp-servers?view=instances&open=instance&server=${server.id}`}
              className="mt-3 inline-block text-sm text-accent-text hover:underline"
            >
              Create an instance
            </Link>
          )}
        </Card>
      </div>
    </div>
  );
}
