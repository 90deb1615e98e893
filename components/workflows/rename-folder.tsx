'use client';
import { useMutation } from '@tanstack/react-query';
import { useTRPC } from '../trpc/provider.tsx';
import { Field, Input } from '../ui/field.tsx';
import { FormDialog } from '../ui/form-dialog.tsx';
import { toast } from '../ui/toaster.tsx';
import { useUrlState } from '../ui/use-url-state.ts';
import { pathLabel } from './folder-paths.ts';
import { useRefreshWorkflows } from './use-organize.ts';

/** Renames or moves the current folder, and opens it under its new path. */
export function RenameFolder({ folder, open, onClose }: { folder: string; open: boolean; onClose: () => void }) {
  const trpc = useTRPC();
  const refresh = useRefreshWorkflows();
  const { set } = useUrlState();
  const rename = useMutation(
    trpc.workflows_rename_folder.mutationOptions({
      onSuccess: async (_, { to }) => {
        set({ folder: to, cursor: '' });
        onClose();
        toast.success(to.trim() === '' ? `${pathLabel(folder)} is no folder any more` : 'The folder is renamed');
        await refresh();
      },
    }),
  );
  return (
    <FormDialog
      open={open}
      onClose={onClose}
      title={`Rename ${pathLabel(folder)}`}
      size="sm"
      action="Rename"
      pending={rename.isPending}
      error={rename.error}
      onSubmit={text => rename.mutate({ from: folder, to: text('to') })}
    >
      <Field
        label="Folder"
        hint="A slash makes a folder inside another: Finance/Invoices. Leave it empty to take everything out of the folder."
      >
        <Input name="to" defaultValue={folder} maxLength={400} autoComplete="off" />
      </Field>
    </FormDialog>
  );
}
