'use client';
import { useQuery } from '@tanstack/react-query';
import { Users } from 'lucide-react';
import dynamic from 'next/dynamic';
import { useRouter } from 'next/navigation';
import { useTRPC } from '../trpc/provider.tsx';
import { Badge } from '../ui/badge.tsx';
import { ThreadMenu } from './thread-menu.tsx';
import { ThreadMeter } from './thread-meter.tsx';

// With the client of the stream, which a list of threads does without.
const ExtractThread = dynamic(() => import('./extract-thread.tsx').then(module => module.ExtractThread), {
  ssr: false,
});

/** Above a thread on its page: its title, who sees it, and what can be done with it. */
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
