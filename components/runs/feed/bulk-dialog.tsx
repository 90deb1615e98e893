'use client';
import { useMutation, useQuery, useQueryClient } from '@tanstack/react-query';
import { useState } from 'react';
import { type Inputs, useTRPC, useTRPCClient } from '../../trpc/provider.tsx';
import { Checkbox } from '../../ui/checkbox.tsx';
import { ConfirmDialog } from '../../ui/confirm-dialog.tsx';
import { readError } from '../../ui/errors.ts';
import { toast } from '../../ui/toaster.tsx';
import { type BulkAction, bulkWords, countInWords } from './bulk-words.ts';

type Filter = Exclude<Inputs['runs_start_bulk'], void>['filter'];
type Props = {
  /** Null while the dialog is closed. */
  action: BulkAction | null;
  filter: Filter;
  /** The number of selected runs; null: all runs that match the filters. */
  selected: number | null;
  onClose: () => void;
  onStarted: () => void;
};

/**
 * Asks for confirmation before runs are stopped, repeated or continued, and shows how many of them the action applies
 * to.
 */
export function BulkDialog({ action: given, filter, selected, onClose, onStarted }: Props) {
  const [action, setAction] = useState<BulkAction>(given ?? 'stop');
  // Keeps the text while the dialog closes.
  if (given !== null && given !== action) setAction(given);
  const open = given !== null;
  const trpc = useTRPC();
  const client = useTRPCClient();
  const queries = useQueryClient();
  const [option, setOption] = useState(false);
  const preview = useQuery({
    queryKey: [trpc.runs_preview_bulk.mutationKey(), action, filter],
    queryFn: () => client.runs_preview_bulk.mutate({ action, filter }),
    enabled: open,
    staleTime: 0,
  });
  const start = useMutation(
    trpc.runs_start_bulk.mutationOptions({
      onSuccess: () => {
        onClose();
        onStarted();
        toast.success(`${bulkWords[action].doing}. The progress is shown above the list.`);
        return queries.invalidateQueries(trpc.runs_list_bulk.queryFilter());
      },
    }),
  );
  const count = preview.data?.matching;
  const error = start.error ?? preview.error;
  return (
    <ConfirmDialog
      open={open}
      onOpenChange={next => {
        if (next) return;
        start.reset();
        onClose();
      }}
      title={bulkWords[action].title}
      tone={action === 'stop' ? 'danger' : 'primary'}
      action={count === 0 ? undefined : bulkWords[action].button}
      cancel={count === 0 ? 'Close' : 'Cancel'}
      pending={start.isPending}
      error={error ? readError(error).message : null}
      onConfirm={() => {
        if (count === undefined) return;
        start.mutate({
          action,
          filter,
          ...(action === 'stop' && { mode: option ? 'graceful' : 'immediate' }),
          ...(action === 'continue' && option && { version: 'latest' }),
        });
      }}
    >
      <div className="flex flex-col gap-3">
        <p>
          {preview.data === undefined ? 'Counting runs…' : countInWords(action, preview.data, selected)}{' '}
          {count === 0 ? '' : explanations[action]}
        </p>
        {count === 0 || action === 'rerun' ? null : (
          <Checkbox
            label={action === 'stop' ? 'Let running steps finish' : 'With the latest version'}
            checked={option}
            onCheckedChange={setOption}
          />
        )}
      </div>
    </ConfirmDialog>
  );
}

const explanations: Record<BulkAction, string> = {
  stop: 'They are stopped a few at a time, together with the runs they called.',
  rerun: 'Each is run again with its input and version, a few at a time.',
  continue: 'Each continues from the step that failed, with the results of the steps before it.',
};
