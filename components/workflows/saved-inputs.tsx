'use client';
import { useMutation, useQueryClient } from '@tanstack/react-query';
import { Save, Trash2 } from 'lucide-react';
import { useState } from 'react';
import { type Json, sameJson } from '../../server/domains/workflows/edits/index.ts';
import { usePermissions } from '../session/session.tsx';
import { ifMatch, type Outputs, useTRPC, useTRPCClient } from '../trpc/provider.tsx';
import { Button, IconButton } from '../ui/button.tsx';
import { Field, Input } from '../ui/field.tsx';
import { Select } from '../ui/select.tsx';
import { toast, toastError } from '../ui/toaster.tsx';
import type { InputObject } from './run-input.ts';

type RunSetup = Outputs['workflows_get']['run_setup'];
export type SavedInput = NonNullable<RunSetup['saved_inputs']>[number];

/** Returns the list with an input added under a name. It replaces an input of the same name, in its place. */
export function withSavedInput(saved: readonly SavedInput[], name: string, input: InputObject): SavedInput[] {
  const entry = { name, input };
  return saved.some(each => each.name === name)
    ? saved.map(each => (each.name === name ? entry : each))
    : [...saved, entry];
}

/** Changes the saved inputs of a workflow, based on the server's state at that moment. */
function useChangeSaved(workflowId: string) {
  const trpc = useTRPC();
  const client = useTRPCClient();
  const queryClient = useQueryClient();
  return useMutation({
    mutationFn: async (change: (saved: readonly SavedInput[]) => SavedInput[]) => {
      const { run_setup, etag } = await client.workflows_get.query({ id: workflowId });
      const saved_inputs = change(run_setup.saved_inputs ?? []);
      const patch = { id: workflowId, run_setup: { ...run_setup, saved_inputs } };
      return client.workflows_patch.mutate(patch, { context: ifMatch(etag) });
    },
    onSuccess: workflow => {
      queryClient.setQueryData(trpc.workflows_get.queryKey({ id: workflowId }), workflow);
      void queryClient.invalidateQueries({ queryKey: trpc.workflows_list.pathKey() });
    },
    onError: toastError,
  });
}

type Props = {
  workflowId: string;
  saved: readonly SavedInput[];
  /** The current input; null while it is not an object. */
  input: InputObject | null;
  onChoose: (input: InputObject) => void;
};

/** The inputs that are saved with a workflow: choose one, save the current input under a name, or delete one. */
export function SavedInputs({ workflowId, saved, input, onChoose }: Props) {
  const { canWrite } = usePermissions();
  const change = useChangeSaved(workflowId);
  const [chosen, setChosen] = useState('');
  const [naming, setNaming] = useState(false);
  // An edited input is no longer the saved one, which can then be chosen again.
  const current = input === null ? undefined : saved.find(each => sameJson(each.input as Json, input));
  if (saved.length === 0 && !canWrite) return null;
  return (
    <div className="flex flex-col gap-2">
      <div className="flex flex-wrap items-center gap-2">
        {saved.length > 0 ? (
          <Select
            label="Saved inputs"
            size="sm"
            className="max-w-60 min-w-36"
            placeholder="Saved inputs"
            value={current?.name}
            options={saved.map(({ name }) => ({ value: name, label: name }))}
            onChange={name => {
              setChosen(name);
              const found = saved.find(each => each.name === name);
              if (found) onChoose(found.input as InputObject);
            }}
          />
        ) : null}
        {canWrite && current ? (
          <IconButton
            label={`Delete the saved input ${current.name}`}
            size="sm"
            onClick={() => change.mutate(list => list.filter(({ name }) => name !== current.name))}
          >
            <Trash2 aria-hidden className="size-3.5" />
          </IconButton>
        ) : null}
        {canWrite && !naming ? (
          <Button
            size="sm"
            icon={<Save aria-hidden className="size-3.5" />}
            disabled={input === null}
            onClick={() => setNaming(true)}
          >
            Save this input
          </Button>
        ) : null}
      </div>
      {naming ? (
        <NameInput
          initial={saved.some(({ name }) => name === chosen) ? chosen : ''}
          pending={change.isPending}
          onCancel={() => setNaming(false)}
          onSave={name => {
            if (input === null) return;
            change.mutate(list => withSavedInput(list, name, input), {
              onSuccess: () => {
                setChosen(name);
                setNaming(false);
                toast.success(`The input is saved as “${name}”.`);
              },
            });
          }}
        />
      ) : null}
    </div>
  );
}

type NameProps = { initial: string; pending: boolean; onCancel: () => void; onSave: (name: string) => void };

function NameInput({ initial, pending, onCancel, onSave }: NameProps) {
  const [name, setName] = useState(initial);
  const trimmed = name.trim();
  const save = () => {
    if (trimmed !== '') onSave(trimmed);
  };
  return (
    <div className="flex flex-wrap items-end gap-2">
      <div className="min-w-40 flex-1">
        <Field label="Name of the input">
          <Input
            autoFocus
            value={name}
            maxLength={100}
            onChange={event => setName(event.target.value)}
            onKeyDown={event => {
              // This field is inside the form that starts the run.
              if (event.key !== 'Enter') return;
              event.preventDefault();
              save();
            }}
          />
        </Field>
      </div>
      <Button onClick={save} disabled={trimmed === ''} pending={pending}>
        Save
      </Button>
      <Button onClick={onCancel}>Cancel</Button>
    </div>
  );
}
