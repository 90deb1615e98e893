'use client';
import { useQuery } from '@tanstack/react-query';
import { branchTo } from '../../../chat/branches.ts';
import { useTRPC } from '../../../trpc/provider.tsx';
import type { Proposal } from '../proposal.ts';

/** Messages of the conversation that are searched. */
const MESSAGES = 100;

/**
 * Returns the run, and its failing step, that a person asked Autopilot about when it made the proposal; null where they named none,
 * or the conversation is not the reader's.
 */
export function useRunInQuestion({
  thread_id: thread,
  message_id: answer,
  workflow_id: workflowId,
}: Proposal): { run: string; step: string | null } | null {
  const trpc = useTRPC();
  const { data } = useQuery(
    trpc.chat_list_messages.queryOptions(
      { id: thread ?? '', limit: MESSAGES, order: 'desc' },
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
