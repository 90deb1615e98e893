'use client';
import { useQuery } from '@tanstack/react-query';
import { useEffect, useRef } from 'react';
import { useTRPC } from '../trpc/provider.tsx';
import { useUrlState } from '../ui/use-url-state.ts';
import { isOpen, type ProposalHead } from './proposal.ts';

/** While an answer is written, its proposal is looked for so often. */
const REFRESH_MS = 2_000;

/**
 * Returns the last proposals for a workflow that came from a conversation, newest first; undefined until they are read. `isBusy`: an
 * answer is being written.
 */
export function useThreadProposals(
  workflowId: string,
  thread: string,
  isBusy: boolean,
): readonly ProposalHead[] | undefined {
  const trpc = useTRPC();
  const { data } = useQuery(
    trpc.autopilot_list_proposals.queryOptions(
      { workflow_id: workflowId, thread_id: thread, limit: 100 },
      { refetchInterval: isBusy ? REFRESH_MS : false },
    ),
  );
  return data?.proposals;
}

/**
 * Draws the newest open proposal of a conversation on the graph, once, as soon as it is there. One that was there before is not drawn,
 * unless the conversation has only begun (`isNew`): its reader may be editing.
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
