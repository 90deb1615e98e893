'use client';
import { useMutation, useQueryClient } from '@tanstack/react-query';
import { RotateCcw } from 'lucide-react';
import { usePermissions } from '../session/session.tsx';
import { useTRPC, useTRPCClient } from '../trpc/provider.tsx';
import { Badge } from '../ui/badge.tsx';
import { Button } from '../ui/button.tsx';
import { cx } from '../ui/classes.ts';
import { ReadOn } from '../ui/pager.tsx';
import { Skeleton } from '../ui/skeleton.tsx';
import { ErrorState } from '../ui/states.tsx';
import { RelativeTime } from '../ui/time.tsx';
import { toast, toastError } from '../ui/toaster.tsx';
import { useCursorPages } from '../ui/use-cursor-pages.ts';
import type { Agent } from './agent-draft.ts';
import { type AgentVersion, diffSettings, type Line } from './version-diff.ts';

/** Lists the versions of an agent, newest first, with their changes and an action to restore each. */
export function AgentVersions({ agent }: { agent: Agent }) {
  const trpc = useTRPC();
  const client = useTRPCClient();
  const list = useCursorPages([...trpc.agents_list_versions.pathKey(), agent.id], from =>
    client.agents_list_versions.query({ id: agent.id, limit: 20, ...from }),
  );
  if (list.isPending) return <Skeleton className="h-40 w-full" />;
  if (list.isError) return <ErrorState error={list.error} onRetry={() => void list.refetch()} />;
  const versions = list.data.pages.flatMap(page => page.versions);
  return (
    <div className="rounded-lg border bg-surface shadow-sm">
      <ol aria-label="Versions">
        {versions.map((version, index) => (
          <Version key={version.version} agent={agent} version={version} before={versions[index + 1] ?? null} />
        ))}
      </ol>
      <ReadOn list={list}>Older versions</ReadOn>
    </div>
  );
}

type Props = { agent: Agent; version: AgentVersion; before: AgentVersion | null };

function Version({ agent, version, before }: Props) {
  const { canWrite } = usePermissions();
  const isLatest = version.version === agent.version;
  // The page with the previous version may not be loaded yet.
  const changes =
    before === null && version.version > 1 ? [] : diffSettings(before?.settings ?? null, version.settings);
  return (
    <li className="border-b p-4 last:border-b-0">
      <div className="flex flex-wrap items-start gap-x-4 gap-y-2">
        <div className="w-16 shrink-0">
          <p className="text-base font-semibold tabular-nums">v{version.version}</p>
          {isLatest ? <Badge tone="ok">Latest</Badge> : null}
        </div>
        <div className="min-w-0 flex-1 basis-60">
          <p className="text-sm">{version.changelog}</p>
          <p className="mt-1 text-xs text-muted">
            {version.published_by} · <RelativeTime at={version.published_at} />
          </p>
        </div>
        {canWrite && !isLatest && agent.status !== 'archived' ? <Restore agent={agent} version={version} /> : null}
      </div>
      {changes.length > 0 ? (
        <details className="mt-2">
          <summary className="cursor-default text-sm text-accent-text">Changes in version {version.version}</summary>
          {changes.map(({ field, lines }) => (
            <section key={field} aria-label={field} className="mt-2">
              <h2 className="font-mono text-xs text-muted">{field}</h2>
              <Lines lines={lines} />
            </section>
          ))}
        </details>
      ) : null}
    </li>
  );
}

const looks = {
  same: { sign: ' ', className: '' },
  added: { sign: '+', className: 'bg-ok-soft text-ok' },
  removed: { sign: '−', className: 'bg-bad-soft text-bad' },
} as const;

function Lines({ lines }: { lines: readonly Line[] }) {
  return (
    <pre className="mt-1 max-h-96 overflow-auto rounded-md border bg-sunken p-2 text-xs whitespace-pre-wrap">
      {lines.map(({ kind, text }, index) => (
        // biome-ignore lint/suspicious/noArrayIndexKey: a line is identified by its position
        <div key={index} className={cx('break-words', looks[kind].className)}>
          {looks[kind].sign} {text}
        </div>
      ))}
    </pre>
  );
}

function Restore({ agent, version }: { agent: Agent; version: AgentVersion }) {
  const trpc = useTRPC();
  const queries = useQueryClient();
  const restore = useMutation(
    trpc.agents_patch.mutationOptions({
      onSuccess: saved => {
        queries.setQueryData(trpc.agents_get.queryKey({ id: saved.id }), saved);
        toast.success(`The settings of version ${version.version} are version ${saved.version} now`);
        return queries.invalidateQueries(trpc.agents_list_versions.pathFilter());
      },
      onError: toastError,
    }),
  );
  const {
    temperature = null,
    max_tokens = null,
    response_schema = null,
    memory = null,
    limits,
    ...settings
  } = version.settings;
  return (
    <Button
      size="sm"
      icon={<RotateCcw aria-hidden className="size-3.5" />}
      pending={restore.isPending}
      onClick={() =>
        restore.mutate({
          id: agent.id,
          ...settings,
          temperature,
          max_tokens,
          response_schema,
          memory,
          limits: { ...limits, budget_credits: limits.budget_credits ?? null },
        })
      }
    >
      Restore
    </Button>
  );
}
