'use client';
import { useChat } from '@ai-sdk/react';
import { useQueryClient } from '@tanstack/react-query';
import { DefaultChatTransport } from 'ai';
import { useEffect, useMemo } from 'react';
import { useSession } from '../session/session.tsx';
import { useTRPC } from '../trpc/provider.tsx';
import { scopeHeaders } from '../trpc/scope.ts';
import { cx } from '../ui/classes.ts';
import { awaitsPerson, type Part, partsOf } from './parts.ts';

/** A lost stream is read again after this. */
const RETRY_MS = 1_000;
/** Text arrives in more pieces than a person can see. */
const THROTTLE_MS = 50;

type Props = { threadId: string; runId: string; onParts: (parts: readonly Part[]) => void };

/** Reads the answer that is being written, from its beginning, and hands over what there is of it. */
export function LiveAnswer({ threadId, runId, onParts }: Props) {
  const trpc = useTRPC();
  const queries = useQueryClient();
  const { tenant, project } = useSession().scope;
  const transport = useMemo(
    () =>
      new DefaultChatTransport({
        prepareReconnectToStreamRequest: () => ({
          api: `/v1/chat/threads/${threadId}/stream`,
          headers: scopeHeaders({ tenant, project }),
          credentials: 'same-origin',
        }),
      }),
    [threadId, tenant, project],
  );
  const reread = () => void queries.invalidateQueries(trpc.chat_get_thread.queryFilter({ id: threadId }));
  const { messages, status, resumeStream } = useChat({
    id: runId,
    transport,
    resume: true,
    throttle: THROTTLE_MS,
    onFinish: reread,
  });
  const isReading = status === 'streaming' || status === 'submitted';
  // The thread shows what is stored once it says that the answer has ended. A stream that ends before was lost.
  useEffect(() => {
    if (isReading) return;
    const timer = setTimeout(() => {
      void queries.invalidateQueries(trpc.chat_get_thread.queryFilter({ id: threadId }));
      void resumeStream();
    }, RETRY_MS);
    return () => clearTimeout(timer);
  }, [isReading, queries, trpc, threadId, resumeStream]);
  // The next answer may have begun before this one is taken from the page.
  const answer = messages.find(({ id }) => id === runId);
  useEffect(() => {
    if (answer !== undefined) onParts(partsOf(answer));
  }, [answer, onParts]);
  const waits = answer !== undefined && awaitsPerson(partsOf(answer));
  return (
    <p role="status" className={cx('text-xs text-muted', !waits && 'animate-pulse-soft')}>
      {waits ? 'Waiting for a person' : 'Answering…'}
    </p>
  );
}
