'use client';
import { useMutation, useQueryClient } from '@tanstack/react-query';
import { useState } from 'react';
import { useTRPC } from '../trpc/provider.tsx';
import { Dialog } from '../ui/dialog.tsx';
import { Field, Textarea } from '../ui/field.tsx';
import { FormActions } from '../ui/form-dialog.tsx';
import { FormError } from '../ui/states.tsx';
import { toast } from '../ui/toaster.tsx';
import type { Draft } from './use-draft.ts';

type Props = {
  open: boolean;
  onOpenChange: (open: boolean) => void;
  workflowId: string;
  nextVersion: number;
  draft: Draft;
  /** Errors that the server would refuse it for. */
  errors: number;
};

/** Publishes the draft as the next version, with a note for those who read the history. */
export function PublishDialog({ open, onOpenChange, workflowId, nextVersion, draft, errors }: Props) {
  const trpc = useTRPC();
  const queryClient = useQueryClient();
  const [changelog, setChangelog] = useState('');
  const publish = useMutation(
    trpc.workflows_publish_version.mutationOptions({
      onSuccess: async version => {
        toast.success(`Version ${version.version} is published. New runs use it.`);
        setChangelog('');
        onOpenChange(false);
        await Promise.all([
          queryClient.invalidateQueries({ queryKey: trpc.workflows_get.queryKey({ id: workflowId }) }),
          queryClient.invalidateQueries({ queryKey: trpc.workflows_list_versions.pathKey() }),
          queryClient.invalidateQueries({ queryKey: trpc.workflows_list.pathKey() }),
        ]);
      },
    }),
  );
  const [unsaved, setUnsaved] = useState(false);
  const submit = async () => {
    // What is published is what is stored: whatever was typed last is saved first.
    const state = await draft.save();
    setUnsaved(state.kind !== 'saved');
    if (state.kind === 'saved')
      publish.mutate({ id: workflowId, ...(changelog.trim() ? { changelog: changelog.trim() } : {}) });
  };
  return (
    <Dialog
      open={open}
      onOpenChange={next => {
        publish.reset();
        onOpenChange(next);
      }}
      title={`Publish version ${nextVersion}`}
      description="Active runs keep the version that they were started with."
      footer={
        <FormActions
          formId="publish"
          onCancel={() => onOpenChange(false)}
          action="Publish"
          pending={publish.isPending}
          disabled={errors > 0}
        />
      }
    >
      <form
        id="publish"
        className="flex flex-col gap-3"
        onSubmit={event => {
          event.preventDefault();
          void submit();
        }}
      >
        <Field label="What has changed" optional hint="Markdown. Shown in the history of versions.">
          <Textarea autoFocus value={changelog} maxLength={2000} onChange={event => setChangelog(event.target.value)} />
        </Field>
        {errors > 0 ? (
          <p role="alert" className="text-sm text-bad">
            {errors === 1 ? 'One problem has' : `${errors} problems have`} to be mended first; they are listed beneath
            the editor.
          </p>
        ) : null}
        {unsaved ? (
          <p role="alert" className="text-sm text-bad">
            The draft could not be saved, so it was not published. The line above the editor says why.
          </p>
        ) : null}
        <FormError error={publish.error} />
      </form>
    </Dialog>
  );
}
