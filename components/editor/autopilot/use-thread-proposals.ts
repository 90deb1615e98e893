'use client';
import { useQuery, useQueryClient } from '@tanstack/react-query';
import { useEffect, useRef } from 'react';
import type { Thread } from '../../chat/use-thread.ts';
import { useTRPC } from '../../trpc/provider.tsx';
import { useUrlState } from '../../ui/use-url-state.ts';
import { isOpen, type ProposalHead } from './proposal.ts';

/** How often proposals are read while the assistant answers. */
const REFRESH_MS = 2_000;

/**
 * Returns the last proposals of a conversation for a workflow, newest first; undefined until they are read. They are read again during an
 * answer and after it has ended.
 */
export function useThreadProposals(
  workflowId: string,
  thread: Thread | undefined,
): readonly ProposalHead[] | undefined {
  const trpc = useTRPC();
  const queries = useQueryClient();
  const input = { workflow_id: workflowId, thread_id: thread?.id ?? '', limit: 100 };
  const isBusy = (thread?.active_run_id ?? null) !== null;
  const { data } = useQuery(
    trpc.autopilot_list_proposals.queryOptions(input, {
      enabled: thread !== undefined,
      refetchInterval: isBusy ? REFRESH_MS : false,
    }),
  );
  const state = `${thread?.active_run_id} ${thread?.message_count} ${thread?.head_id}`;
  // biome-ignore lint/correctness/useExhaustiveDependencies: an answer that ended between two readings may have proposed something
  useEffect(() => {
    void queries.invalidateQueries(trpc.autopilot_list_proposals.queryFilter());
  }, [state, queries]);
  return data?.proposals;
}

/**
 * Draws each new open proposal of a conversation on the graph once. A proposal that existed when the conversation was opened is drawn only in
 * a new conversation (`isNew`), because the reader may be editing.
 */
export function useDrawnProposal(proposals: readonly ProposalHead[] | undefined, isNew: boolean): void {
  const { set } = useUrlState();
  const known = useRef<string | null | undefined>(isNew ? null : undefined);
  const newest = proposals === undefined ? undefined : (proposals.find(isOpen)?.id ?? null);
  useEffect(() => {
    if (newest === undefined) return;
    if (newest !== null && known.current !== undefined && known.current !== newest) set({ drawn: newest });
    known.current = newest;
  }, [newest, set]);
}
