'use client';
import { useMutation, useQueryClient } from '@tanstack/react-query';
import { Check, Trash2, Undo2 } from 'lucide-react';
import { useState } from 'react';
import { type Outputs, useTRPC } from '../../trpc/provider.tsx';
import { Button } from '../../ui/button.tsx';
import { Confirm } from '../../ui/confirm.tsx';
import { readError } from '../../ui/errors.ts';
import { FormError } from '../../ui/states.tsx';
import { toast, toastError } from '../../ui/toaster.tsx';
import { isOpen, type Proposal } from './proposal.ts';

/** The draft to which a proposal is applied. */
export type Target = {
  /** Saves the local edits. Resolves to `saved` once the server has them. */
  save: () => Promise<{ kind: string }>;
  /** Replaces the local draft with the workflow of the server. */
  take: (workflow: Outputs['autopilot_apply_proposal']['workflow']) => void;
};
type Props = {
  proposal: Proposal;
  target: Target;
  editable: boolean;
  /** The steps to apply; null for the whole proposal. */
  chosen: readonly string[] | null;
  /** The reviewed state of the proposal; null if the proposal has changed since and needs another review. */
  reviewed: string | null;
};

/** Shows the actions on a proposal: apply or discard it, or undo it once it is applied. */
export function ProposalActions({ proposal, target, editable, chosen, reviewed }: Props) {
  const { id } = proposal;
  const { apply, undo, discard, discarding, setDiscarding } = useDecisions(id, target);
  // The server merges with its draft, so local edits are saved first.
  const afterSaving = async (action: () => void) => {
    if ((await target.save()).kind === 'saved') action();
    else toast.error('The draft is not saved. Fix the problem shown in its status, then try again.');
  };
  if (!isOpen(proposal) && proposal.status !== 'applied') return null;
  const isAll = chosen === null;
  return (
    <div className="flex flex-col gap-2">
      <Refusal error={apply.error ?? undo.error} isShown={proposal.conflicts.length > 0} />
      <div className="flex flex-wrap gap-2">
        {editable && isOpen(proposal) ? (
          <Button
            size="sm"
            variant="primary"
            icon={<Check aria-hidden className="size-3.5" />}
            pending={apply.isPending}
            disabled={reviewed === null || chosen?.length === 0}
            onClick={() =>
              void afterSaving(() =>
                apply.mutate({ id, etag: reviewed ?? '', ...(isAll ? {} : { steps: [...chosen] }) }),
              )
            }
          >
            {isAll ? 'Apply all' : chosen.length === 1 ? 'Apply 1 step' : `Apply ${chosen.length} steps`}
          </Button>
        ) : null}
        {editable && proposal.status === 'applied' ? (
          <Button
            size="sm"
            icon={<Undo2 aria-hidden className="size-3.5" />}
            pending={undo.isPending}
            title="Removes the proposal’s changes from the draft. Later edits are kept."
            onClick={() => void afterSaving(() => undo.mutate({ id }))}
          >
            Undo the proposal
          </Button>
        ) : null}
        {isOpen(proposal) ? (
          <Button
            size="sm"
            variant="danger"
            icon={<Trash2 aria-hidden className="size-3.5" />}
            onClick={() => setDiscarding(true)}
          >
            Discard
          </Button>
        ) : null}
      </div>
      {editable || !isOpen(proposal) ? null : (
        <p className="text-xs text-muted">Applying it needs the contributor role.</p>
      )}
      <Confirm
        open={discarding}
        onOpenChange={setDiscarding}
        title="Discard this proposal?"
        action="Discard"
        pending={discard.isPending}
        onConfirm={() => discard.mutate({ id })}
      >
        You can no longer apply it. The draft does not change.
      </Confirm>
    </div>
  );
}

/** Returns the mutations that decide on a proposal, and the state of the confirmation of discarding. */
function useDecisions(id: string, target: Target) {
  const trpc = useTRPC();
  const queries = useQueryClient();
  const [discarding, setDiscarding] = useState(false);
  const reread = () =>
    Promise.all([
      queries.invalidateQueries(trpc.autopilot_get_proposal.queryFilter({ id })),
      queries.invalidateQueries(trpc.autopilot_list_proposals.pathFilter()),
    ]);
  const applyOptions = (message: string) => ({
    onSuccess: ({ workflow, changed }: Outputs['autopilot_apply_proposal']) => {
      target.take(workflow);
      if (changed) toast.success(message);
      else toast.warning('The draft already has these changes. Nothing was changed.');
    },
    onSettled: reread,
  });
  const apply = useMutation(
    trpc.autopilot_apply_proposal.mutationOptions(
      applyOptions('Proposal applied to the draft. Publish the draft to use it for new runs.'),
    ),
  );
  const undo = useMutation(
    trpc.autopilot_undo_proposal.mutationOptions(applyOptions('The proposal’s changes were removed from the draft.')),
  );
  const discard = useMutation(
    trpc.autopilot_discard_proposal.mutationOptions({
      onError: toastError,
      onSettled: () => {
        setDiscarding(false);
        return reread();
      },
    }),
  );
  return { apply, undo, discard, discarding, setDiscarding };
}

/** Shows the error of a refused decision. `isShown`: the conflicts are listed below with both sides. */
function Refusal({ error, isShown }: { error: unknown; isShown: boolean }) {
  if (!error) return null;
  const { code, message } = readError(error);
  if (code !== 'proposal_conflict' || !isShown) return <FormError error={error} />;
  return (
    <p role="alert" className="text-sm text-bad">
      {message}
    </p>
  );
}
