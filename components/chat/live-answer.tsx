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

/** The delay before the client reconnects to a lost stream. */
const RETRY_MS = 1_000;
/** The minimum interval between updates: text arrives in more pieces than a person can see. */
const THROTTLE_MS = 50;

type Props = { threadId: string; runId: string; onParts: (parts: readonly Part[]) => void };

/** Reads the stream of the active answer, and reports its parts. */
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
  // A stream was lost if it ends before the thread reports the end of the answer.
  useEffect(() => {
    if (isReading) return;
    const timer = setTimeout(() => {
      void queries.invalidateQueries(trpc.chat_get_thread.queryFilter({ id: threadId }));
      void resumeStream();
    }, RETRY_MS);
    return () => clearTimeout(timer);
  }, [isReading, queries, trpc, threadId, resumeStream]);
  // The stream may have moved on to the next answer before this component is removed.
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
