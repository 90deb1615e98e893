'use client';
import { useMutation } from '@tanstack/react-query';
import { Download, ShieldCheck, Trash2 } from 'lucide-react';
import { useState } from 'react';
import { useSession } from '../session/session.tsx';
import { type Outputs, useTRPC, useTRPCClient } from '../trpc/provider.tsx';
import { Button } from '../ui/button.tsx';
import { Card } from '../ui/card.tsx';
import { Confirm } from '../ui/confirm.tsx';
import { download } from '../ui/download.ts';
import { readError } from '../ui/errors.ts';
import { ReadOn } from '../ui/pager.tsx';
import { Skeleton } from '../ui/skeleton.tsx';
import { EmptyState, ErrorState } from '../ui/states.tsx';
import { RelativeTime } from '../ui/time.tsx';
import { toast, toastError } from '../ui/toaster.tsx';
import { useCursorPages } from '../ui/use-cursor-pages.ts';
import { useUrlState } from '../ui/use-url-state.ts';
import { StatusBadge } from './badges.tsx';
import { useRefreshMemory } from './use-refresh-memory.ts';
import { counted, type Item, sourceLabels } from './words.ts';

type Known = Outputs['memory_export'];

/** Shows the private memories of the reader in this project, with actions to export and forget them. */
export function AboutMe() {
  const trpc = useTRPC();
  const client = useTRPCClient();
  const { me } = useSession();
  const known = useCursorPages<Known>([...trpc.memory_export.pathKey(), 'me'], from =>
    client.memory_export.query({ of: 'me', limit: 100, ...from }),
  );
  const items = known.data?.pages.flatMap(page => page.items);
  const episodes = known.data?.pages.flatMap(page => page.episodes) ?? [];
  const isEmpty = items?.length === 0 && episodes.length === 0 && !known.hasNextPage;
  return (
    <Card
      flush
      title="What do you know about me?"
      description={`Only you can see, search and export this in ${me.project.name}.`}
      actions={items && !isEmpty ? <Actions /> : null}
    >
      {items === undefined ? (
        known.isError ? (
          <ErrorState error={known.error} onRetry={() => void known.refetch()} />
        ) : (
          <div aria-hidden className="flex flex-col gap-3 p-4">
            <Skeleton className="h-4 w-72 max-w-full" />
            <Skeleton className="h-4 w-56" />
          </div>
        )
      ) : isEmpty ? (
        <EmptyState icon={ShieldCheck} title="Nothing is stored about you">
          What you tell agents, and what they propose to remember from it, appears here.
        </EmptyState>
      ) : (
        <ul aria-label="Known about you">
          {items.map(item => (
            <ItemLine key={item.id} item={item} />
          ))}
          {episodes.map(episode => (
            <EpisodeLine key={episode.id} episode={episode} />
          ))}
        </ul>
      )}
      <ReadOn list={known}>{episodes.length > 0 ? 'Show older conversations' : 'Show more'}</ReadOn>
    </Card>
  );
}

const lineClass =
  'flex w-full flex-wrap items-baseline gap-x-2 gap-y-1 px-4 py-2.5 text-left text-sm hover:bg-hover/60';

function ItemLine({ item }: { item: Item }) {
  const { set } = useUrlState();
  return (
    <li className="border-b last:border-b-0">
      <button type="button" className={lineClass} onClick={() => set({ item: item.id }, { push: true })}>
        <span className="min-w-0 flex-1 wrap-anywhere">
          <span className="text-muted">{item.subject}: </span>
          {item.text}
        </span>
        {item.status === 'active' ? null : <StatusBadge status={item.status} />}
        <RelativeTime at={item.created_at} className="text-xs text-muted tabular-nums" />
      </button>
    </li>
  );
}

function EpisodeLine({ episode }: { episode: Known['episodes'][number] }) {
  const { set } = useUrlState();
  const { chunks } = episode;
  return (
    <li className="border-b last:border-b-0">
      <button type="button" className={lineClass} onClick={() => set({ episode: episode.id }, { push: true })}>
        <span className="min-w-0 flex-1 wrap-anywhere">
          <span className="text-muted">{sourceLabels[episode.source]}: </span>
          {episode.title || episode.source_ref} <span className="text-muted">({counted(chunks.length, 'part')})</span>
        </span>
        <RelativeTime at={episode.occurred_at} className="text-xs text-muted tabular-nums" />
      </button>
    </li>
  );
}

function Actions() {
  const trpc = useTRPC();
  const client = useTRPCClient();
  const refresh = useRefreshMemory();
  const [asking, setAsking] = useState(false);
  const save = useMutation({
    mutationFn: async () => {
      const all: Pick<Known, 'items' | 'episodes'> = { items: [], episodes: [] };
      let cursor: string | null = null;
      do {
        const page: Known = await client.memory_export.query({ of: 'me', limit: 100, ...(cursor ? { cursor } : {}) });
        all.items.push(...page.items);
        all.episodes.push(...page.episodes);
        cursor = page.next_cursor;
      } while (cursor !== null);
      return JSON.stringify(all, null, 2);
    },
    onSuccess: json => download('what-baton-knows-about-me.json', 'application/json', json),
    onError: toastError,
  });
  const forget = useMutation(
    trpc.memory_forget.mutationOptions({
      onSuccess: ({ items, episodes }) => {
        setAsking(false);
        toast.success(`${counted(items, 'item')} and ${counted(episodes, 'conversation')} forgotten`);
        return refresh();
      },
    }),
  );
  return (
    <>
      <Button
        size="sm"
        icon={<Download aria-hidden className="size-3.5" />}
        pending={save.isPending}
        onClick={() => save.mutate()}
      >
        Export JSON
      </Button>
      <Button
        size="sm"
        variant="danger"
        icon={<Trash2 aria-hidden className="size-3.5" />}
        onClick={() => setAsking(true)}
      >
        Forget everything
      </Button>
      <Confirm
        open={asking}
        onOpenChange={setAsking}
        title="Forget everything about you?"
        action="Forget everything"
        pending={forget.isPending}
        error={forget.error ? readError(forget.error).message : null}
        onConfirm={() => forget.mutate({ of: 'me' })}
      >
        Everything that only you can see in this project is permanently deleted. What you shared with the project is
        kept.
      </Confirm>
    </>
  );
}
