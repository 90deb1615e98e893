'use client';
import { useMutation, useQueryClient } from '@tanstack/react-query';
import { RotateCcw } from 'lucide-react';
import { useState } from 'react';
import { type Message, textOf } from '../../chat/branches.ts';
import { useTRPC, useTRPCClient } from '../../trpc/provider.tsx';
import { Button } from '../../ui/button.tsx';
import { Dialog } from '../../ui/dialog.tsx';
import { FormError } from '../../ui/states.tsx';
import { RelativeTime } from '../../ui/time.tsx';
import { toast } from '../../ui/toaster.tsx';
import type { ProposalHead } from './proposal.ts';
import type { Target } from './proposal-actions.tsx';
import { type RestorePoint, restorePoints } from './restore-points.ts';

type Props = { messages: readonly Message[]; proposals: readonly ProposalHead[]; target: Target };

/**
 * Undoes the changes of a conversation since one of its messages; renders nothing if the conversation has not changed
 * the draft.
 */
export function Restore({ messages, proposals, target }: Props) {
  const [open, setOpen] = useState(false);
  const points = restorePoints(messages, proposals);
  const restore = useRestore(target, () => setOpen(false));
  if (points.length === 0 && !open) return null;
  return (
    <>
      <Button
        size="sm"
        variant="ghost"
        icon={<RotateCcw aria-hidden className="size-3.5" />}
        onClick={() => {
          restore.reset();
          setOpen(true);
        }}
      >
        Restore…
      </Button>
      <Dialog
        open={open}
        onOpenChange={setOpen}
        title="Restore the draft"
        description="Undoes the changes that this conversation made since a message. Edits by people are kept."
      >
        <div className="flex flex-col gap-3">
          <FormError error={restore.error} />
          <ol aria-label="Messages" className="flex flex-col gap-2">
            {points.map(point => (
              <li key={point.message.id} className="flex flex-col gap-2 rounded-md border px-3 py-2">
                <p className="line-clamp-3 text-sm wrap-anywhere">{textOf(point.message)}</p>
                <p className="text-xs wrap-anywhere text-muted">
                  <RelativeTime at={point.message.metadata.created_at} /> · undoes{' '}
                  {point.undo.map(({ title }) => `“${title}”`).join(', ')}
                </p>
                <Button
                  size="sm"
                  className="self-start"
                  pending={restore.isPending && restore.variables === point}
                  disabled={restore.isPending}
                  onClick={() => restore.mutate(point)}
                >
                  Restore to before this message
                </Button>
              </li>
            ))}
          </ol>
        </div>
      </Dialog>
    </>
  );
}

/** Undoes proposals one by one. If one cannot be undone, shows its error; the proposals before it stay undone. */
function useRestore(target: Target, onRestored: () => void) {
  const trpc = useTRPC();
  const client = useTRPCClient();
  const queries = useQueryClient();
  return useMutation({
    mutationFn: async ({ undo }: RestorePoint) => {
      // The server merges with its draft, so local edits are saved first.
      if ((await target.save()).kind !== 'saved')
        throw new Error('The draft is not saved. Fix the problem shown in its status, then try again.');
      for (const { id } of undo) target.take((await client.autopilot_undo_proposal.mutate({ id })).workflow);
    },
    onSuccess: () => {
      toast.success('The changes since the message were undone. Edits by people are kept.');
      onRestored();
    },
    onSettled: () =>
      Promise.all([
        queries.invalidateQueries(trpc.autopilot_list_proposals.pathFilter()),
        queries.invalidateQueries(trpc.autopilot_get_proposal.pathFilter()),
      ]),
  });
}
