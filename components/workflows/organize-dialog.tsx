'use client';
import { useMutation, useQuery } from '@tanstack/react-query';
import { useState } from 'react';
import { useTRPC } from '../trpc/provider.tsx';
import { cx } from '../ui/classes.ts';
import { Field, Input } from '../ui/field.tsx';
import { FormDialog } from '../ui/form-dialog.tsx';
import { toast } from '../ui/toaster.tsx';
import { pathLabel, tagChange, tagsOf } from './folder-paths.ts';
import { useRefreshWorkflows } from './use-organize.ts';

type Placed = { id: string; name: string; folder: string; tags: readonly string[] };

type Props = { workflows: readonly Placed[]; open: boolean; onClose: () => void; onDone?: () => void };

/** Moves workflows into a folder and changes their tags. A value that the workflows do not share is kept unless the user changes it. */
export function OrganizeDialog({ workflows, open, onClose, onDone }: Props) {
  const trpc = useTRPC();
  const refresh = useRefreshWorkflows();
  const places = useQuery(trpc.workflows_list_folders.queryOptions({}, { enabled: open }));
  const [first] = workflows;
  const isShared = workflows.every(({ folder }) => folder === first?.folder);
  const shared = first?.tags.filter(tag => workflows.every(({ tags }) => tags.includes(tag))) ?? [];
  const [folder, setFolder] = useState(isShared ? (first?.folder ?? '') : null);
  const [tags, setTags] = useState(shared.join(', '));
  const chosen = tagsOf(tags);
  const organize = useMutation(
    trpc.workflows_organize.mutationOptions({
      onSuccess: () => {
        onClose();
        onDone?.();
        toast.success(workflows.length === 1 ? `${first?.name} is saved` : `${workflows.length} workflows are saved`);
        return refresh();
      },
    }),
  );
  const save = () => {
    const { add, remove } = tagChange(shared, chosen);
    organize.mutate({
      workflow_ids: workflows.map(({ id }) => id),
      ...(folder === null ? {} : { folder }),
      ...(add.length > 0 ? { add_tags: add } : {}),
      ...(remove.length > 0 ? { remove_tags: remove } : {}),
    });
  };
  const toggle = (tag: string) =>
    setTags((chosen.includes(tag) ? chosen.filter(each => each !== tag) : [...chosen, tag]).join(', '));
  return (
    <FormDialog
      open={open}
      onClose={onClose}
      title={workflows.length === 1 ? `Move or tag ${first?.name}` : `Move or tag ${workflows.length} workflows`}
      action="Save"
      pending={organize.isPending}
      error={organize.error}
      onSubmit={save}
    >
      <Field label="Folder" hint="A new name makes a new folder; a slash makes one inside another: Finance/Invoices.">
        <Input
          value={folder ?? ''}
          onChange={event => setFolder(event.target.value)}
          placeholder={folder === null ? 'In several folders' : 'In no folder'}
          maxLength={400}
          autoComplete="off"
        />
      </Field>
      <Choices
        label="Folders that exist"
        options={(places.data?.folders ?? []).map(({ path }) => ({ value: path, label: pathLabel(path) }))}
        chosen={folder === null ? [] : [folder]}
        onChoose={path => setFolder(path === folder ? '' : path)}
      />
      <Field
        label="Tags"
        hint={workflows.length === 1 ? 'With commas between them.' : 'Those of all of them, with commas between them.'}
      >
        <Input value={tags} onChange={event => setTags(event.target.value)} maxLength={1_000} autoComplete="off" />
      </Field>
      <Choices
        label="Tags that exist"
        options={(places.data?.tags ?? []).map(({ tag }) => ({ value: tag, label: tag }))}
        chosen={chosen}
        onChoose={toggle}
      />
    </FormDialog>
  );
}

type ChoicesProps = {
  label: string;
  options: readonly { value: string; label: string }[];
  chosen: readonly string[];
  onChoose: (value: string) => void;
};

/** Buttons with existing names, so that they need not be typed. */
function Choices({ label, options, chosen, onChoose }: ChoicesProps) {
  if (options.length === 0) return null;
  return (
    <fieldset className="-mt-2 flex max-h-32 min-w-0 flex-wrap gap-1.5 overflow-y-auto p-0.5">
      <legend className="sr-only">{label}</legend>
      {options.map(option => (
        <button
          key={option.value}
          type="button"
          aria-pressed={chosen.includes(option.value)}
          onClick={() => onChoose(option.value)}
          className={cx(
            'h-6 max-w-full truncate rounded-sm border px-2 text-xs hover:bg-hover',
            chosen.includes(option.value) && 'border-accent bg-accent-soft text-accent-text',
          )}
        >
          {option.label}
        </button>
      ))}
    </fieldset>
  );
}
