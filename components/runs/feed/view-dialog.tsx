'use client';
import { useMutation, useQueryClient } from '@tanstack/react-query';
import { useState } from 'react';
import { usePermissions } from '../../session/session.tsx';
import { type Inputs, useTRPC } from '../../trpc/provider.tsx';
import { Checkbox } from '../../ui/checkbox.tsx';
import { Field, Input } from '../../ui/field.tsx';
import { FormDialog } from '../../ui/form-dialog.tsx';
import { toast } from '../../ui/toaster.tsx';
import { useUrlState } from '../../ui/use-url-state.ts';
import type { View } from './view-menu.tsx';

type Props = {
  /** Null for a new view, with these filters and columns. */
  view: View | null;
  filters: Inputs['run_views_create']['filters'];
  columns: readonly string[];
  onClose: () => void;
};

/** Lets a person name a view, and share it with the project. */
export function ViewDialog({ view, filters, columns, onClose }: Props) {
  const trpc = useTRPC();
  const queries = useQueryClient();
  const { set } = useUrlState();
  const { canWrite } = usePermissions();
  const [shared, setShared] = useState(view?.shared ?? false);
  const finish = async ({ id, name }: { id: string; name: string }) => {
    set({ view: id });
    toast.success(`The view ${name} is saved`);
    onClose();
    await queries.invalidateQueries(trpc.run_views_list.pathFilter());
  };
  const create = useMutation(trpc.run_views_create.mutationOptions({ onSuccess: finish }));
  const patch = useMutation(trpc.run_views_patch.mutationOptions({ onSuccess: finish }));
  const save = (name: string) => {
    if (view === null) create.mutate({ name, filters, columns: [...columns], shared });
    else patch.mutate({ view_id: view.id, name, ...(shared === view.shared ? {} : { shared }) });
  };
  return (
    <FormDialog
      onClose={onClose}
      title={view === null ? 'Save as a view' : `Change ${view.name}`}
      description={view === null ? 'It keeps the filters and columns that the list has now.' : undefined}
      size="sm"
      action="Save"
      pending={create.isPending || patch.isPending}
      error={create.error ?? patch.error}
      onSubmit={text => save(text('name'))}
    >
      <Field label="Name">
        <Input name="name" required maxLength={80} defaultValue={view?.name ?? ''} autoComplete="off" />
      </Field>
      {canWrite ? (
        <Checkbox
          label="Share with the project"
          hint="Everyone in the project can use it; contributors can change it."
          checked={shared}
          onCheckedChange={setShared}
        />
      ) : null}
    </FormDialog>
  );
}
