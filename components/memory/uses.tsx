'use client';
import { useQueryClient } from '@tanstack/react-query';
import { type Outputs, useTRPC } from '../trpc/provider.tsx';
import { Link } from '../ui/link.tsx';
import { ShowMore } from '../ui/pager.tsx';
import { Skeleton } from '../ui/skeleton.tsx';
import { ErrorState } from '../ui/states.tsx';
import { RelativeTime } from '../ui/time.tsx';
import { useCursorPages } from '../ui/use-cursor-pages.ts';
import { counted, type Item } from './words.ts';

type Use = Outputs['memory_items_list_uses']['uses'][number];

/** Shows the number of uses of an item, and the runs and chats that used it last. */
export function Uses({ item: { id, uses, last_used_at } }: { item: Item }) {
  if (last_used_at === null)
    return <p className="text-sm text-muted">No agent or program has found it in a search yet.</p>;
  return (
    <div className="flex flex-col gap-1.5">
      <p className="text-sm text-muted">
        Found by agents and programs {counted(uses, 'time')}, most recently <RelativeTime at={last_used_at} />.
      </p>
      <UseList id={id} />
    </div>
  );
}

function UseList({ id }: { id: string }) {
  const trpc = useTRPC();
  const queries = useQueryClient();
  const list = useCursorPages(trpc.memory_items_list_uses.queryKey({ id }), from =>
    queries.fetchQuery(trpc.memory_items_list_uses.queryOptions({ id, limit: 10, ...from }, { staleTime: 0 })),
  );
  if (list.isError) return <ErrorState error={list.error} onRetry={() => void list.refetch()} />;
  if (list.isPending) return <Skeleton className="h-10 w-full" />;
  const uses = list.data.pages.flatMap(page => page.uses);
  if (uses.length === 0) return <p className="text-xs text-muted">None in the last 30 days in this project.</p>;
  return (
    <>
      <ul aria-label="Uses" className="flex flex-col gap-1 text-sm">
        {uses.map((use, index) => (
          // biome-ignore lint/suspicious/noArrayIndexKey: uses are only appended, and have no other key
          <li key={index} className="flex flex-wrap items-baseline gap-x-2">
            <What use={use} />
            <RelativeTime at={use.recalled_at} className="text-xs text-muted tabular-nums" />
          </li>
        ))}
      </ul>
      <ShowMore list={list} className="self-start">
        Show more
      </ShowMore>
    </>
  );
}

const link = 'underline wrap-anywhere hover:no-underline';

function What({ use }: { use: Use }) {
  const { via, run_id, step_id, workflow_id, workflow_name, thread_id } = use;
  switch (via) {
    case 'tool':
      return <span>A program’s search</span>;
    case 'chat':
      if (thread_id === null) return <span>Someone’s private chat</span>;
      return (
        <Link href={`/chat/${thread_id}`} className={link}>
          Chat with {workflow_name ?? 'an agent'}
        </Link>
      );
    case 'run':
      if (run_id === null || workflow_id === null) return <span>A run that is no longer kept</span>;
      return (
        <Link
          href={`/workflows/${workflow_id}/runs/${run_id}${step_id === null ? '' : `?step=${encodeURIComponent(step_id)}`}`}
          className={link}
        >
          Run of {workflow_name ?? 'a workflow'}
        </Link>
      );
  }
}
