'use client';
import { useQuery } from '@tanstack/react-query';
import { ChevronLeft } from 'lucide-react';
import { useMemo, useState } from 'react';
import type { DraftDiff } from '../../../server/domains/workflows/edits/index.ts';
import { StepNames, stepNames } from '../../runs/step-names.tsx';
import { useTRPC } from '../../trpc/provider.tsx';
import { Badge } from '../../ui/badge.tsx';
import { IconButton } from '../../ui/button.tsx';
import { Skeleton } from '../../ui/skeleton.tsx';
import { ErrorState } from '../../ui/states.tsx';
import { Conflicts } from './conflicts.tsx';
import { Findings } from './findings.tsx';
import { diffOf, isOpen, PROPOSAL_REFRESH_MS, type Proposal, statusLooks, withNeeded } from './proposal.ts';
import { ProposalActions, type Target } from './proposal-actions.tsx';
import { ProposalChanges } from './proposal-changes.tsx';
import { ProposalAuthor } from './proposal-list.tsx';
import { Authors, ReviewAgain } from './proposal-review.tsx';
import { TrialSection } from './trial/trial-section.tsx';
import { useNames } from './use-names.ts';

type Props = {
  id: string;
  target: Target;
  editable: boolean;
  /** Returns to all proposals; absent if the page has its own heading. */
  onClose?: () => void;
};

/** Shows a proposal: its changes, problems and last trial, and the actions on it. */
export function ProposalView({ id, onClose, ...panel }: Props) {
  const trpc = useTRPC();
  const query = useQuery(
    trpc.autopilot_get_proposal.queryOptions(
      { id },
      { refetchInterval: ({ state }) => (state.data && isOpen(state.data) ? PROPOSAL_REFRESH_MS : false) },
    ),
  );
  return (
    <div className="flex flex-col gap-4">
      {onClose === undefined ? null : (
        <div className="flex items-start gap-1">
          <IconButton label="All proposals" size="sm" className="-ml-2" onClick={onClose}>
            <ChevronLeft aria-hidden className="size-4" />
          </IconButton>
          <h2 className="min-w-0 flex-1 pt-0.5 text-base font-semibold wrap-anywhere">
            {query.data?.title ?? 'Proposal'}
          </h2>
        </div>
      )}
      {query.data ? (
        <Opened key={id} proposal={query.data} {...panel} />
      ) : query.isError ? (
        <ErrorState error={query.error} onRetry={() => void query.refetch()} />
      ) : (
        <Skeleton className="h-60 w-full" />
      )}
    </div>
  );
}

function Opened({ proposal, target, editable }: Pick<Props, 'target' | 'editable'> & { proposal: Proposal }) {
  const nameOf = useNames();
  const diff = diffOf(proposal);
  const called = useMemo(() => stepNames(proposal.draft.graph.steps, removedSteps(diff)), [proposal.draft, diff]);
  const [left, setLeft] = useState<ReadonlySet<string>>(new Set());
  const chosen = useMemo(() => {
    const picked = diff.steps.map(({ step }) => step).filter(step => !left.has(step));
    return withNeeded(diff.steps, new Set(picked));
  }, [diff.steps, left]);
  const open = isOpen(proposal);
  const [reviewed, setReviewed] = useState(proposal.etag);
  const isReviewed = !open || reviewed === proposal.etag;
  const look = statusLooks[proposal.status];
  return (
    <StepNames value={called}>
      <p className="flex flex-wrap items-center gap-2">
        <Badge tone={look.tone}>{look.label}</Badge>
        <ProposalAuthor proposal={proposal} nameOf={nameOf} />
      </p>
      <Authors changes={proposal.changes} />
      {isReviewed ? null : <ReviewAgain changes={proposal.changes} onReviewed={() => setReviewed(proposal.etag)} />}
      <ProposalActions
        proposal={proposal}
        target={target}
        editable={editable}
        reviewed={isReviewed ? proposal.etag : null}
        chosen={left.size === 0 ? null : diff.steps.map(({ step }) => step).filter(step => chosen.has(step))}
      />
      {open ? <Findings validation={proposal.validation} needsInput={proposal.status === 'needs_input'} /> : null}
      <Conflicts conflicts={proposal.conflicts} />
      <ProposalChanges
        diff={diff}
        chosen={chosen}
        left={left}
        onToggle={
          open && editable
            ? (step, isChosen) => {
                const next = new Set(left);
                if (isChosen) next.delete(step);
                else next.add(step);
                setLeft(next);
              }
            : undefined
        }
      />
      <TrialSection proposal={proposal} changes={diff.steps} />
    </StepNames>
  );
}

/** Returns the steps that a proposal removes: its draft no longer has them. */
const removedSteps = ({ steps }: DraftDiff) =>
  steps.flatMap(change => (change.change === 'removed' ? [change.before] : []));
