'use client';
import { useMutation, useQuery } from '@tanstack/react-query';
import { useEffect, useRef, useState } from 'react';
import { usePermissions } from '../session/session.tsx';
import { type Outputs, useTRPC } from '../trpc/provider.tsx';
import { Button } from '../ui/button.tsx';
import { cx } from '../ui/classes.ts';
import { Confirm } from '../ui/confirm.tsx';
import { Dialog } from '../ui/dialog.tsx';
import { readError } from '../ui/errors.ts';
import { Skeleton } from '../ui/skeleton.tsx';
import { ErrorState } from '../ui/states.tsx';
import { RelativeTime } from '../ui/time.tsx';
import { toast } from '../ui/toaster.tsx';
import { TrustBadge, VisibilityBadge } from './badges.tsx';
import { ExtractDialog } from './extract-dialog.tsx';
import { useRefreshMemory } from './use-refresh-memory.ts';
import { counted, mayWrite } from './words.ts';

type Episode = Outputs['memory_get_episode'];
type Chunk = Episode['chunks'][number];

const roleLabels: Record<Chunk['role'], string> = { user: 'Person', assistant: 'Model', tool: 'Tool', text: 'Text' };

const sourceWords = { thread: 'conversation', run: 'run', file: 'file', note: 'conversation' } as const;

/** Shows the text of an episode around one of its chunks. */
export function EpisodeDialog({ id, around, onClose }: { id: string; around: string; onClose: () => void }) {
  const trpc = useTRPC();
  const permissions = usePermissions();
  const [mode, setMode] = useState<'show' | 'forget' | 'extract'>('show');
  const read = useQuery(trpc.memory_get_episode.queryOptions({ id, ...(around === '' ? {} : { around }) }));
  const episode = read.data;
  if (episode && mode === 'forget')
    return <ForgetEpisode episode={episode} onCancel={() => setMode('show')} onForgotten={onClose} />;
  if (episode && mode === 'extract')
    return (
      <ExtractDialog
        what={sourceWords[episode.source]}
        episode={async () => episode.id}
        onClose={() => setMode('show')}
      />
    );
  return (
    <Dialog
      open
      onOpenChange={open => !open && onClose()}
      size="lg"
      title={episode?.title || episode?.source_ref || 'What was said'}
      footer={
        episode && mayWrite(episode.visibility, permissions) ? (
          <div className="flex w-full flex-wrap gap-2">
            <Button variant="danger" className="mr-auto" onClick={() => setMode('forget')}>
              Forget everything
            </Button>
            {permissions.canWrite ? <Button onClick={() => setMode('extract')}>Extract memories</Button> : null}
          </div>
        ) : undefined
      }
    >
      {episode ? (
        <>
          <p className="mb-3 flex flex-wrap items-center gap-1.5 text-xs text-muted">
            <VisibilityBadge visibility={episode.visibility} />
            <TrustBadge trust={episode.trust} />
            <RelativeTime at={episode.occurred_at} className="tabular-nums" />
          </p>
          <ol aria-label="Text" className="flex flex-col gap-2">
            {episode.chunks.map(chunk => (
              <ChunkText key={chunk.id} chunk={chunk} chosen={chunk.id === around} />
            ))}
          </ol>
        </>
      ) : read.isError ? (
        <ErrorState error={read.error} onRetry={() => void read.refetch()} />
      ) : (
        <div className="flex flex-col gap-3">
          <Skeleton className="h-4 w-40" />
          <Skeleton className="h-24 w-full" />
        </div>
      )}
    </Dialog>
  );
}

function ChunkText({ chunk, chosen }: { chunk: Chunk; chosen: boolean }) {
  const row = useRef<HTMLLIElement>(null);
  useEffect(() => {
    if (chosen) row.current?.scrollIntoView({ block: 'center' });
  }, [chosen]);
  return (
    <li
      ref={row}
      aria-current={chosen ? 'true' : undefined}
      className={cx('rounded-md border px-3 py-2', chosen && 'border-accent bg-accent-soft')}
    >
      <p className="mb-0.5 flex items-center gap-1.5 text-xs text-muted">
        {roleLabels[chunk.role]}
        <TrustBadge trust={chunk.trust} />
      </p>
      <p className="text-sm whitespace-pre-wrap wrap-anywhere">{chunk.text}</p>
    </li>
  );
}

function ForgetEpisode({
  episode,
  onCancel,
  onForgotten,
}: {
  episode: Episode;
  onCancel: () => void;
  onForgotten: () => void;
}) {
  const trpc = useTRPC();
  const refresh = useRefreshMemory();
  const forget = useMutation(
    trpc.memory_forget.mutationOptions({
      onSuccess: ({ items }) => {
        onForgotten();
        toast.success(items === 0 ? 'Forgotten' : `Forgotten, with ${counted(items, 'item')} that had no other source`);
        return refresh();
      },
    }),
  );
  return (
    <Confirm
      open
      onOpenChange={open => !open && onCancel()}
      title="Forget everything?"
      action="Forget"
      pending={forget.isPending}
      error={forget.error ? readError(forget.error).message : null}
      onConfirm={() => forget.mutate({ of: 'episode', ref: episode.id })}
    >
      Its text is permanently deleted, together with every item that a program derived from it alone.
    </Confirm>
  );
}
