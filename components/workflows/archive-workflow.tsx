'use client';
import { useMutation, useQueryClient } from '@tanstack/react-query';
import { useState } from 'react';
import { useTRPC } from '../trpc/provider.tsx';
import { Checkbox } from '../ui/checkbox.tsx';
import { ConfirmDialog } from '../ui/confirm-dialog.tsx';
import { readError } from '../ui/errors.ts';
import { toast } from '../ui/toaster.tsx';

/** Asks before a workflow is archived, and whether to stop its active runs. */
export function ArchiveWorkflow({
  workflow,
  open,
  onOpenChange,
}: {
  workflow: { id: string; name: string };
  open: boolean;
  onOpenChange: (open: boolean) => void;
}) {
  const trpc = useTRPC();
  const queries = useQueryClient();
  const [stops, setStops] = useState(false);
  const archive = useMutation(
    trpc.workflows_archive.mutationOptions({
      onSuccess: () => {
        onOpenChange(false);
        toast.success(`${workflow.name} is archived`);
        return Promise.all([
          queries.invalidateQueries(trpc.workflows_list.queryFilter()),
          queries.invalidateQueries(trpc.workflows_get.queryFilter({ id: workflow.id })),
        ]);
      },
    }),
  );
  return (
    <ConfirmDialog
      open={open}
      onOpenChange={onOpenChange}
      title={`Archive ${workflow.name}?`}
      action="Archive"
      pending={archive.isPending}
      error={archive.error ? readError(archive.error).message : null}
      onConfirm={() => archive.mutate({ id: workflow.id, runs: stops ? 'stop' : 'continue' })}
    >
      <div className="flex flex-col gap-3">
        <p>It can no longer be started, and its webhooks are turned off. You can still view its runs.</p>
        <Checkbox
          label="Stop its active runs"
          hint="A few at a time, together with the runs they called. Otherwise they continue."
          checked={stops}
          onCheckedChange={setStops}
        />
      </div>
    </ConfirmDialog>
  );
}
