'use client';
import { useQuery } from '@tanstack/react-query';
import { Users } from 'lucide-react';
import dynamic from 'next/dynamic';
import { useRouter } from 'next/navigation';
import { useTRPC } from '../trpc/provider.tsx';
import { Badge } from '../ui/badge.tsx';
import { ThreadMenu } from './thread-menu.tsx';
import { ThreadMeter } from './thread-meter.tsx';

// Loaded on demand, because few readers extract memories.
const ExtractThread = dynamic(() => import('./extract-thread.tsx').then(module => module.ExtractThread), {
  ssr: false,
});

/** The header of a thread: its title, its visibility and the actions on it. */
export function ThreadHeader({ id }: { id: string }) {
  const trpc = useTRPC();
  const router = useRouter();
  const { data: thread } = useQuery(trpc.chat_get_thread.queryOptions({ id }));
  return (
    <header className="flex min-h-12 shrink-0 items-center gap-2 border-b px-4">
      <div className="flex min-w-0 flex-1 flex-col py-1">
        <h1 className="truncate text-base font-semibold">{thread?.title || 'Thread'}</h1>
        <ThreadMeter id={id} />
      </div>
      {thread?.visibility === 'project' ? (
        <Badge>
          <Users aria-hidden className="size-3" />
          Shared
        </Badge>
      ) : null}
      <ExtractThread id={id} />
      {thread ? <ThreadMenu thread={thread} onGone={() => router.push('/chat')} /> : null}
    </header>
  );
}
