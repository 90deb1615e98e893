'use client';
import { useQuery } from '@tanstack/react-query';
import { useState } from 'react';
import { useTRPC } from '../trpc/provider.tsx';
import { cx } from '../ui/classes.ts';
import { Link } from '../ui/link.tsx';
import { SearchInput } from '../ui/search-input.tsx';
import { Skeleton } from '../ui/skeleton.tsx';
import { ErrorState } from '../ui/states.tsx';
import { RelativeTime } from '../ui/time.tsx';

const REFRESH_MS = 10_000;

/** Lists the user's threads and those shared with the project, last changed first. */
export function ThreadList({ selected }: { selected: string | null }) {
  const trpc = useTRPC();
  const [q, setQ] = useState('');
  const list = useQuery(
    trpc.chat_list_threads.queryOptions({ limit: 100, ...(q && { q }) }, { refetchInterval: REFRESH_MS }),
  );
  return (
    <div className="flex min-h-0 flex-1 flex-col gap-2">
      <div className="px-4 sm:px-6">
        <SearchInput wide label="Search threads" value={q} onChange={setQ} />
      </div>
      {list.isError ? <ErrorState error={list.error} onRetry={() => void list.refetch()} /> : null}
      {list.isPending ? <Skeleton className="mx-4 h-20 sm:mx-6" /> : null}
      {list.data?.threads.length === 0 ? (
        <p className="px-4 text-sm sm:px-6 text-muted">{q ? 'No thread matches.' : 'No threads yet.'}</p>
      ) : null}
      <nav aria-label="Threads" className="min-h-0 flex-1 overflow-y-auto px-2 pb-3 sm:px-4">
        <ul>
          {list.data?.threads.map(({ id, title, updated_at, active_run_id, awaits_person }) => (
            <li key={id}>
              <Link
                href={`/chat/${id}`}
                aria-current={id === selected ? 'page' : undefined}
                className={cx('block rounded-md px-2 py-1.5 hover:bg-hover', id === selected && 'bg-hover font-medium')}
              >
                <span className="block truncate text-sm">{title || 'Untitled'}</span>
                <span className="text-xs text-muted">
                  {awaits_person ? (
                    'Waiting for a person'
                  ) : active_run_id === null ? (
                    <RelativeTime at={updated_at} />
                  ) : (
                    'Answering…'
                  )}
                </span>
              </Link>
            </li>
          ))}
        </ul>
      </nav>
    </div>
  );
}
