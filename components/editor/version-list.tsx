'use client';
import { useMutation, useQueryClient } from '@tanstack/react-query';
import { Eye, GitCompare, History, RotateCcw } from 'lucide-react';
import { useState } from 'react';
import { WorkflowGraph } from '../graph/workflow-graph.tsx';
import { usePermissions } from '../session/session.tsx';
import { type Outputs, useTRPC, useTRPCClient } from '../trpc/provider.tsx';
import { Badge } from '../ui/badge.tsx';
import { Button } from '../ui/button.tsx';
import { Confirm } from '../ui/confirm.tsx';
import { Dialog } from '../ui/dialog.tsx';
import { LazyMarkdown } from '../ui/lazy-markdown.tsx';
import { ReadOn } from '../ui/pager.tsx';
import { Skeleton } from '../ui/skeleton.tsx';
import { EmptyState, ErrorState } from '../ui/states.tsx';
import { RelativeTime } from '../ui/time.tsx';
import { toast, toastError } from '../ui/toaster.tsx';
import { useCursorPages } from '../ui/use-cursor-pages.ts';
import { VersionChanges } from './changes/version-changes.tsx';
import type { Draft } from './use-draft.ts';

type Version = Outputs['workflows_list_versions']['versions'][number];

/** The published versions, newest first, with actions to compare, view and restore each version. */
export function VersionList({
  workflowId,
  latest,
  draft,
}: {
  workflowId: string;
  latest: number | null;
  draft: Draft;
}) {
  const trpc = useTRPC();
  const client = useTRPCClient();
  const list = useCursorPages([...trpc.workflows_list_versions.pathKey(), workflowId], from =>
    client.workflows_list_versions.query({ id: workflowId, limit: 20, ...from }),
  );
  const [shown, setShown] = useState<Version | null>(null);
  const [compared, setCompared] = useState<Version | null>(null);
  const [restoring, setRestoring] = useState<Version | null>(null);
  if (list.isPending) return <Skeleton className="h-40 w-full" />;
  if (list.isError) return <ErrorState error={list.error} onRetry={() => void list.refetch()} />;
  const versions = list.data.pages.flatMap(page => page.versions);
  if (versions.length === 0)
    return (
      <div className="rounded-lg border bg-surface">
        <EmptyState icon={History} title="Not published yet">
          Publish the draft to create a numbered version. Runs always use a published version.
        </EmptyState>
      </div>
    );
  return (
    <div className="rounded-lg border bg-surface shadow-sm">
      <ol>
        {versions.map(version => (
          <li key={version.version} className="flex flex-wrap items-start gap-x-4 gap-y-2 border-b p-4 last:border-b-0">
            <div className="w-16 shrink-0">
              <p className="text-base font-semibold tabular-nums">v{version.version}</p>
              {version.version === latest ? <Badge tone="ok">Latest</Badge> : null}
            </div>
            <div className="min-w-0 flex-1 basis-60">
              {version.changelog ? (
                <LazyMarkdown text={version.changelog} />
              ) : (
                <p className="text-sm text-faint">No note</p>
              )}
              <p className="mt-1 text-xs text-muted">
                {stepCount(version.graph_snapshot.steps.length)} · {version.published_by} ·{' '}
                <RelativeTime at={version.published_at} />
              </p>
            </div>
            <VersionActions version={version} onShow={setShown} onCompare={setCompared} onRestore={setRestoring} />
          </li>
        ))}
      </ol>
      <ReadOn list={list}>Older versions</ReadOn>
      <Dialog
        open={shown !== null}
        onOpenChange={() => setShown(null)}
        size="lg"
        title={shown ? `Version ${shown.version}` : ''}
      >
        {shown ? (
          <div className="h-[60dvh]">
            <WorkflowGraph
              label={`Graph of version ${shown.version}`}
              steps={shown.graph_snapshot.steps}
              notes={shown.graph_snapshot.notes}
            />
          </div>
        ) : null}
      </Dialog>
      <VersionChanges
        workflowId={workflowId}
        version={compared}
        draft={draft.state.draft}
        onClose={() => setCompared(null)}
      />
      <RestoreConfirm workflowId={workflowId} version={restoring} draft={draft} onClose={() => setRestoring(null)} />
    </div>
  );
}

function VersionActions({
  version,
  onShow,
  onCompare,
  onRestore,
}: {
  version: Version;
  onShow: (version: Version) => void;
  onCompare: (version: Version) => void;
  onRestore: (version: Version) => void;
}) {
  const { canWrite } = usePermissions();
  return (
    <div className="flex flex-wrap gap-2">
      <Button size="sm" icon={<Eye aria-hidden className="size-3.5" />} onClick={() => onShow(version)}>
        View
      </Button>
      <Button size="sm" icon={<GitCompare aria-hidden className="size-3.5" />} onClick={() => onCompare(version)}>
        Changes
      </Button>
      {canWrite ? (
        <Button size="sm" icon={<RotateCcw aria-hidden className="size-3.5" />} onClick={() => onRestore(version)}>
          Restore
        </Button>
      ) : null}
    </div>
  );
}

function RestoreConfirm({
  workflowId,
  version,
  draft,
  onClose,
}: {
  workflowId: string;
  version: Version | null;
  draft: Draft;
  onClose: () => void;
}) {
  const trpc = useTRPC();
  const queryClient = useQueryClient();
  const restore = useMutation(
    trpc.workflows_restore_version.mutationOptions({
      onSuccess: workflow => {
        draft.take(workflow);
        void queryClient.invalidateQueries({ queryKey: trpc.workflows_list.pathKey() });
        toast.success('The version was restored to the draft. Publish it to use it for new runs.');
      },
      onError: toastError,
      onSettled: onClose,
    }),
  );
  return (
    <Confirm
      open={version !== null}
      onOpenChange={open => {
        if (!open) onClose();
      }}
      title={version ? `Restore version ${version.version}?` : ''}
      action="Restore"
      pending={restore.isPending}
      onConfirm={() => version && restore.mutate({ id: workflowId, version: version.version })}
    >
      Its graph replaces the current draft. Published versions do not change.
    </Confirm>
  );
}

const stepCount = (steps: number): string => (steps === 1 ? '1 step' : `${steps} steps`);
