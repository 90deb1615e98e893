'use client';
import { useMutation, useQuery, useQueryClient } from '@tanstack/react-query';
import { useMemo, useState } from 'react';
import { diff } from '../../server/domains/workflows/edits/index.ts';
import { stepNames } from '../runs/step-names.tsx';
import { useTRPC } from '../trpc/provider.tsx';
import { Dialog } from '../ui/dialog.tsx';
import { Field, Textarea } from '../ui/field.tsx';
import { FormActions } from '../ui/form-dialog.tsx';
import { ScrollRegion } from '../ui/scroll-region.tsx';
import { Skeleton } from '../ui/skeleton.tsx';
import { FormError } from '../ui/states.tsx';
import { toast } from '../ui/toaster.tsx';
import { ChangeList } from './changes/change-list.tsx';
import { stateOf } from './changes/describe-changes.ts';
import { withInnerSteps } from './changes/inner-changes.ts';
import type { Draft } from './use-draft.ts';

type Props = {
  open: boolean;
  onOpenChange: (open: boolean) => void;
  workflowId: string;
  nextVersion: number;
  draft: Draft;
  /** The number of errors for which the server would refuse to publish. */
  errors: number;
};

/** Publishes the draft as the next version, with a release note. */
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
    // Publishing uses the stored draft, so the latest edits are saved first.
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
      description="Active runs continue with the version they were started with."
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
      {open && nextVersion > 1 ? (
        <UnpublishedChanges workflowId={workflowId} latest={nextVersion - 1} draft={draft} />
      ) : null}
      <form
        id="publish"
        className="flex flex-col gap-3"
        onSubmit={event => {
          event.preventDefault();
          void submit();
        }}
      >
        <Field label="What has changed" optional hint="Markdown. Shown in the version history.">
          <Textarea autoFocus value={changelog} maxLength={2000} onChange={event => setChangelog(event.target.value)} />
        </Field>
        {errors > 0 ? (
          <p role="alert" className="text-sm text-bad">
            {errors === 1 ? 'One problem' : `${errors} problems`} must be fixed first. See the list below the editor.
          </p>
        ) : null}
        {unsaved ? (
          <p role="alert" className="text-sm text-bad">
            The draft could not be saved, so it was not published. See the status above the editor.
          </p>
        ) : null}
        <FormError error={publish.error} />
      </form>
    </Dialog>
  );
}

/** Shows the changes of the draft since the latest version. */
function UnpublishedChanges({ workflowId, latest, draft }: { workflowId: string; latest: number; draft: Draft }) {
  const trpc = useTRPC();
  const version = useQuery(
    trpc.workflows_get_version.queryOptions(
      { id: workflowId, version: latest },
      { staleTime: Number.POSITIVE_INFINITY },
    ),
  );
  const current = draft.state.draft;
  const changes = useMemo(
    () =>
      version.data ? withInnerSteps(diff(stateOf(version.data), { ...current, name: '', description: '' })) : null,
    [version.data, current],
  );
  return (
    <section aria-label={`Changes since version ${latest}`} className="mb-4 flex flex-col gap-2">
      <h3 className="text-sm font-medium">Changes since version {latest}</h3>
      {changes !== null ? (
        <ScrollRegion label="List of changes" className="max-h-60 overflow-auto">
          <ChangeList
            diff={changes}
            called={stepNames(current.graph.steps, version.data?.graph_snapshot.steps ?? [])}
          />
        </ScrollRegion>
      ) : version.isError ? (
        <FormError error={version.error} />
      ) : (
        <Skeleton className="h-16 w-full" />
      )}
    </section>
  );
}
