'use client';
import { ArrowLeft, Plus } from 'lucide-react';
import dynamic from 'next/dynamic';
import { useRouter } from 'next/navigation';
import { AgentsOff } from '../agents/agents-off.tsx';
import { useSession } from '../session/session.tsx';
import { ButtonLink } from '../ui/button.tsx';
import { cx } from '../ui/classes.ts';
import { Link } from '../ui/link.tsx';
import { NewThread } from './new-thread.tsx';
import { ThreadHeader } from './thread-header.tsx';
import { ThreadList } from './thread-list.tsx';

// Loaded on demand with the client of the stream, which a list of threads does not need.
const ThreadView = dynamic(() => import('./thread-view.tsx').then(module => module.ThreadView), { ssr: false });

/** The page of the chat: the list of threads, and beside it a thread or the form for a new one. A phone shows only one of the two. */
export function ChatPage(props: Props) {
  return useSession().me.agents ? <Chat {...props} /> : <AgentsOff title="Chat" />;
}

type Props = { id: string | null; isNew?: boolean };

function Chat({ id, isNew = false }: Props) {
  const router = useRouter();
  const onOpen = (threadId: string) => router.push(`/chat/${threadId}`);
  const isListAlone = id === null && !isNew;
  // The title of an open thread is the heading of the page.
  const Heading = isListAlone ? 'h1' : 'p';
  return (
    <div className="flex h-[calc(100dvh-3rem)] min-h-0 lg:h-dvh">
      <div
        className={cx(
          'flex min-h-0 flex-col gap-3 py-5 max-lg:w-full lg:w-72 lg:border-r',
          !isListAlone && 'max-lg:hidden',
        )}
      >
        <div className="flex items-center justify-between px-4 sm:px-6">
          <Heading className="text-xl font-semibold tracking-tight">Chat</Heading>
          <ButtonLink size="sm" href="/chat/new" icon={<Plus aria-hidden className="size-3.5" />}>
            New
          </ButtonLink>
        </div>
        <ThreadList selected={id} />
      </div>
      <section
        aria-label="Thread"
        className={cx('flex min-h-0 min-w-0 flex-1 flex-col', isListAlone && 'max-lg:hidden')}
      >
        <Link href="/chat" className="flex items-center gap-1 px-4 pt-3 text-sm text-muted lg:hidden">
          <ArrowLeft aria-hidden className="size-3.5" />
          Threads
        </Link>
        {id === null ? (
          <>
            {isNew ? <h1 className="px-4 pt-4 text-lg font-semibold">New thread</h1> : null}
            <NewThread onOpen={onOpen} />
          </>
        ) : (
          <>
            <ThreadHeader id={id} />
            <ThreadView key={id} id={id} onOpen={onOpen} />
          </>
        )}
      </section>
    </div>
  );
}
