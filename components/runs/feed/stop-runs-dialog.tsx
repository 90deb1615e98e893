'use client';
import { useMutation, useQuery, useQueryClient } from '@tanstack/react-query';
import { useState } from 'react';
import { useTRPC, useTRPCClient } from '../../trpc/provider.tsx';
import { Checkbox } from '../../ui/checkbox.tsx';
import { ConfirmDialog } from '../../ui/confirm-dialog.tsx';
import { readError } from '../../ui/errors.ts';
import { toast } from '../../ui/toaster.tsx';
import { useUrlState } from '../../ui/use-url-state.ts';
import { type StopFilter, stopFilterOf } from './stop-filter.ts';

type DialogProps = { open: boolean; onOpenChange: (open: boolean) => void };

/** Asks for confirmation before the active runs that the page shows are stopped, and shows their number. */
export function StopRunsDialog({ open, onOpenChange }: DialogProps) {
  const { get } = useUrlState();
  const trpc = useTRPC();
  const queries = useQueryClient();
  const filter = stopFilterOf(get);
  const preview = usePreview(filter, open);
  const [gracefully, setGracefully] = useState(false);
  const stop = useMutation(
    trpc.runs_stop.mutationOptions({
      onSuccess: () => {
        onOpenChange(false);
        toast.success('The runs are being stopped');
        return queries.invalidateQueries(trpc.runs_list_stops.queryFilter());
      },
    }),
  );
  const count = filter === null ? 0 : preview.data?.matching;
  const error = stop.error ?? preview.error;
  return (
    <ConfirmDialog
      open={open}
      onOpenChange={onOpenChange}
      title="Stop runs?"
      action={count === 0 ? undefined : 'Stop runs'}
      cancel={count === 0 ? 'Close' : 'Cancel'}
      pending={stop.isPending}
      error={error ? readError(error).message : null}
      onConfirm={() => {
        if (filter !== null && count !== undefined)
          stop.mutate({ filter, mode: gracefully ? 'graceful' : 'immediate' });
      }}
    >
      {count === 0 ? (
        'No active run matches the filters of this page.'
      ) : (
        <div className="flex flex-col gap-3">
          <p>
            {count === undefined ? 'Counting active runs…' : sentenceOf(count, preview.data?.capped === true)} Runs are
            stopped a few at a time, together with the runs they called. Matching runs that start in the meantime are
            stopped too.
          </p>
          <Checkbox label="Let running steps finish" checked={gracefully} onCheckedChange={setGracefully} />
        </div>
      )}
    </ConfirmDialog>
  );
}

function sentenceOf(count: number, more: boolean): string {
  const runs = count === 1 ? '1 active run matches' : `${count.toLocaleString()}${more ? '+' : ''} active runs match`;
  return `${runs} the filters of this page, in every project of the workspace.`;
}

function usePreview(filter: StopFilter | null, open: boolean) {
  const trpc = useTRPC();
  const client = useTRPCClient();
  return useQuery({
    queryKey: [trpc.runs_preview_stop.mutationKey(), filter],
    queryFn: () => (filter === null ? null : client.runs_preview_stop.mutate({ filter })),
    enabled: open && filter !== null,
    staleTime: 0,
    refetchInterval: 5_000,
  });
}
