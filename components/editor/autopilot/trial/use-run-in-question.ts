'use client';
import { useQuery } from '@tanstack/react-query';
import { branchTo } from '../../../chat/branches.ts';
import { useTRPC } from '../../../trpc/provider.tsx';
import type { Proposal } from '../proposal.ts';

/** The maximum number of messages to search. */
const MAX_MESSAGES = 100;

/**
 * Returns the run and the failing step in the context of the message that led to the proposal; null without a run in the context, or if the
 * reader cannot see the conversation.
 */
export function useRunInQuestion({
  thread_id: thread,
  message_id: answer,
  workflow_id: workflowId,
}: Proposal): { run: string; step: string | null } | null {
  const trpc = useTRPC();
  const { data } = useQuery(
    trpc.chat_list_messages.queryOptions(
      { id: thread ?? '', limit: MAX_MESSAGES, order: 'desc' },
      { enabled: thread !== null && workflowId !== null, retry: false },
    ),
  );
  const about = branchTo(data?.messages ?? [], answer)
    .flatMap(({ message }) => message.parts)
    .findLast(part => part.type === 'data-context' && part.data.run_id !== null);
  if (about?.type !== 'data-context' || about.data.run_id === null || about.data.workflow_id !== workflowId)
    return null;
  return { run: about.data.run_id, step: about.data.step_id };
}
