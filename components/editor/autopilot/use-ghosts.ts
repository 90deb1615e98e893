'use client';
import { useQuery } from '@tanstack/react-query';
import { useMemo } from 'react';
import type { GraphStepInput } from '../../graph/layout.ts';
import { useTRPC } from '../../trpc/provider.tsx';
import { type Drawing, useLayout } from '../canvas/use-layout.ts';
import { ghostsOf, type Mark } from './ghosts.ts';
import { diffOf, isOpen, PROPOSAL_REFRESH_MS } from './proposal.ts';

const nothing: readonly GraphStepInput[] = [];

/** The drawing of a proposal over the draft. */
export type GhostDrawing = { title: string; drawing: Drawing; marks: ReadonlyMap<string, Mark> };

/** Returns the drawing of the proposal `id` over the draft; null without a proposal, or if it is closed. */
export function useGhosts(steps: readonly GraphStepInput[], id: string | null): GhostDrawing | null {
  const trpc = useTRPC();
  const { data } = useQuery(
    trpc.autopilot_get_proposal.queryOptions(
      { id: id ?? '' },
      {
        enabled: id !== null,
        refetchInterval: ({ state }) => (state.data && isOpen(state.data) ? PROPOSAL_REFRESH_MS : false),
      },
    ),
  );
  const proposal = id !== null && data !== undefined && isOpen(data) ? data : null;
  const ghosts = useMemo(() => (proposal === null ? null : ghostsOf(steps, diffOf(proposal).steps)), [proposal, steps]);
  const drawing = useLayout(ghosts?.steps ?? nothing);
  return useMemo(
    () => (proposal === null || ghosts === null ? null : { title: proposal.title, drawing, marks: ghosts.marks }),
    [proposal, ghosts, drawing],
  );
}
