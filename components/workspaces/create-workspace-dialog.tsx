'use client';
import { useMutation } from '@tanstack/react-query';
import { useState } from 'react';
import { useSession } from '../session/session.tsx';
import { useTRPC } from '../trpc/provider.tsx';
import { readError } from '../ui/errors.ts';
import { FormDialog } from '../ui/form-dialog.tsx';
import type { FieldText } from '../ui/read-fields.ts';
import { findWorkspaceProblems, WorkspaceFields, type WorkspaceProblems } from './workspace-fields.tsx';

/** Creates a workspace and switches to it. */
export function CreateWorkspaceDialog({ open, onClose }: { open: boolean; onClose: () => void }) {
  const trpc = useTRPC();
  const { switchTo } = useSession();
  const [problems, setProblems] = useState<WorkspaceProblems>({});
  const create = useMutation(
    trpc.workspaces_create.mutationOptions({
      onSuccess: ({ slug, project }) => switchTo({ tenant: slug, project: project.id }),
      onError: error => {
        if (isTaken(error)) setProblems({ slug: 'A workspace with this slug already exists. Choose another one.' });
      },
    }),
  );
  const close = () => {
    setProblems({});
    create.reset();
    onClose();
  };
  const submit = (text: FieldText) => {
    const input = { name: text('name'), slug: text('slug') };
    const found = findWorkspaceProblems(input);
    setProblems(found);
    if (Object.keys(found).length === 0) create.mutate(input);
  };
  return (
    <FormDialog
      open={open}
      onClose={close}
      title="Create workspace"
      description="A workspace has its own projects, members, connections and billing. You will administer it."
      action="Create workspace"
      // Pending until the page has loaded in the new workspace.
      pending={create.isPending || create.isSuccess}
      error={isTaken(create.error) ? null : create.error}
      noValidate
      onSubmit={submit}
    >
      <WorkspaceFields nameField="name" label="Name" problems={problems} autoFocus />
    </FormDialog>
  );
}

const isTaken = (error: unknown): boolean => error !== null && readError(error).code === 'workspace_slug_taken';
