'use client';
import { useQuery } from '@tanstack/react-query';
import { History } from 'lucide-react';
import { useState } from 'react';
import { useTRPC, useTRPCClient } from '../trpc/provider.tsx';
import { Badge } from '../ui/badge.tsx';
import { Button } from '../ui/button.tsx';
import { Card } from '../ui/card.tsx';
import { Dialog } from '../ui/dialog.tsx';
import { ReadOn } from '../ui/pager.tsx';
import { Skeleton } from '../ui/skeleton.tsx';
import { EmptyState, ErrorState } from '../ui/states.tsx';
import { RelativeTime } from '../ui/time.tsx';
import { useCursorPages } from '../ui/use-cursor-pages.ts';
import type { ServerDetail } from './auth-modes.ts';
import { CatalogDiff } from './catalog-diff.tsx';
import { ToolList } from './tool-list.tsx';

/** The published versions, newest first. Each can be opened. */
export function VersionList({ server }: { server: ServerDetail }) {
  const trpc = useTRPC();
  const client = useTRPCClient();
  const [shown, setShown] = useState<number | null>(null);
  const list = useCursorPages([...trpc.mcp_servers_list_versions.pathKey(), server.id], from =>
    client.mcp_servers_list_versions.query({ id: server.id, limit: 20, ...from }),
  );
  if (list.isPending) return <Skeleton className="h-40 w-full" />;
  if (list.isError) return <ErrorState error={list.error} onRetry={() => void list.refetch()} />;
  const versions = list.data.pages.flatMap(page => page.versions);
  if (versions.length === 0)
    return (
      <Card flush>
        <EmptyState icon={History} title="Not published yet">
          Publish the tools to create a numbered version that never changes. Instances call a published version.
        </EmptyState>
      </Card>
    );
  return (
    <Card flush>
      <ol aria-label="Versions">
        {versions.map(version => (
          <li key={version.version} className="flex flex-wrap items-start gap-x-4 gap-y-2 border-b p-4 last:border-b-0">
            <div className="w-16 shrink-0">
              <p className="text-base font-semibold tabular-nums">v{version.version}</p>
              {version.version === server.latest_version ? <Badge tone="ok">Latest</Badge> : null}
            </div>
            <div className="min-w-0 flex-1 basis-60">
              <p className="text-sm wrap-anywhere whitespace-pre-wrap">
                {version.changelog || <span className="text-faint">No note</span>}
              </p>
              <p className="mt-1 text-xs text-muted">
                {version.tool_count} tools · {version.published_by} · <RelativeTime at={version.published_at} />
              </p>
            </div>
            <Button
              size="sm"
              aria-label={`Tools of version ${version.version}`}
              onClick={() => setShown(version.version)}
            >
              Tools
            </Button>
          </li>
        ))}
      </ol>
      <ReadOn list={list}>Older versions</ReadOn>
      {shown === null ? null : <VersionDialog serverId={server.id} version={shown} onClose={() => setShown(null)} />}
    </Card>
  );
}

function VersionDialog({ serverId, version, onClose }: { serverId: string; version: number; onClose: () => void }) {
  const trpc = useTRPC();
  const query = useQuery(trpc.mcp_servers_get_version.queryOptions({ id: serverId, version }));
  return (
    <Dialog open onOpenChange={open => !open && onClose()} size="lg" title={`Version ${version}`}>
      {query.isError ? (
        <ErrorState error={query.error} onRetry={() => void query.refetch()} />
      ) : query.data ? (
        <div className="flex flex-col gap-4">
          <CatalogDiff diff={query.data.diff} />
          <ToolList label={`Tools of version ${version}`} tools={query.data.tools} />
        </div>
      ) : (
        <Skeleton className="h-80 w-full" />
      )}
    </Dialog>
  );
}
