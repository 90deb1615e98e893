'use client';
import { useMutation, useQuery, useQueryClient } from '@tanstack/react-query';
import { useState } from 'react';
import { usePermissions } from '../session/session.tsx';
import { type Outputs, useTRPC } from '../trpc/provider.tsx';
import { Button } from '../ui/button.tsx';
import { Card } from '../ui/card.tsx';
import { Confirm } from '../ui/confirm.tsx';
import { readError } from '../ui/errors.ts';
import { Field, Input } from '../ui/field.tsx';
import { FormDialog } from '../ui/form-dialog.tsx';
import { Skeleton } from '../ui/skeleton.tsx';
import { ErrorState } from '../ui/states.tsx';
import { toast } from '../ui/toaster.tsx';
import { counted } from './words.ts';

type Settings = Outputs['memory_settings_get'];

/** Shows the embedding model and the progress of embedding. */
export function EmbeddingCard() {
  const trpc = useTRPC();
  const { isAdmin } = usePermissions();
  const [open, setOpen] = useState<'choose' | 'off' | null>(null);
  const settings = useQuery(
    trpc.memory_settings_get.queryOptions(
      {},
      { refetchInterval: query => ((query.state.data?.pending ?? 0) > 0 ? 5_000 : false) },
    ),
  );
  const model = settings.data?.embedding_model ?? null;
  const actions = (
    <>
      {model === null ? null : (
        <Button size="sm" onClick={() => setOpen('off')}>
          Switch off
        </Button>
      )}
      <Button size="sm" onClick={() => setOpen('choose')}>
        {model === null ? 'Choose a model' : 'Change model'}
      </Button>
    </>
  );
  return (
    <Card
      title="Search by meaning"
      description="With an embedding model, search also finds texts with the same meaning in different words."
      actions={isAdmin && settings.data ? actions : null}
    >
      {settings.data ? (
        <State settings={settings.data} />
      ) : settings.isError ? (
        <ErrorState error={settings.error} onRetry={() => void settings.refetch()} />
      ) : (
        <Skeleton className="h-4 w-60" />
      )}
      {open === 'choose' ? <ChooseModel model={model ?? ''} onClose={() => setOpen(null)} /> : null}
      {open === 'off' ? <SwitchOff onClose={() => setOpen(null)} /> : null}
    </Card>
  );
}

function State({ settings }: { settings: Settings }) {
  const { embedding_model: model, dimensions, pending, ready } = settings;
  if (model === null)
    return <p className="text-sm text-muted">Off: search matches words only. No text leaves the deployment.</p>;
  return (
    <p className="text-sm">
      <code>{model}</code>
      {dimensions === null ? null : <span className="text-muted">, {dimensions.toLocaleString('en')} dimensions</span>}
      <span role="status" className="block text-muted">
        {pending === 0
          ? 'Every text has an embedding.'
          : `${counted(pending, 'text')} ${pending === 1 ? 'waits' : 'wait'} for an embedding.`}
        {ready ? '' : ' Until every text has one, search matches words only.'}
      </span>
    </p>
  );
}

function useChange(onClose: () => void, message: string) {
  const trpc = useTRPC();
  const queries = useQueryClient();
  return useMutation(
    trpc.memory_settings_patch.mutationOptions({
      onSuccess: () => {
        onClose();
        toast.success(message);
        return queries.invalidateQueries(trpc.memory_settings_get.queryFilter());
      },
    }),
  );
}

function ChooseModel({ model, onClose }: { model: string; onClose: () => void }) {
  const change = useChange(onClose, 'Embedding model saved');
  return (
    <FormDialog
      onClose={onClose}
      title="Embedding model"
      action="Save"
      pending={change.isPending}
      error={change.error}
      onSubmit={text => change.mutate({ embedding_model: text('model') })}
    >
      <Field
        label="Model"
        hint="provider/model, such as openai/text-embedding-3-small. Its key must be shared with the workspace. The texts of all memories and all search queries are sent to it."
      >
        <Input name="model" required maxLength={200} defaultValue={model} autoComplete="off" spellCheck={false} />
      </Field>
    </FormDialog>
  );
}

function SwitchOff({ onClose }: { onClose: () => void }) {
  const change = useChange(onClose, 'Search by meaning is switched off');
  return (
    <Confirm
      open
      onOpenChange={open => !open && onClose()}
      title="Switch off search by meaning?"
      action="Switch off"
      pending={change.isPending}
      error={change.error ? readError(change.error).message : null}
      onConfirm={() => change.mutate({ embedding_model: null })}
    >
      All embeddings are deleted. Search then matches words only.
    </Confirm>
  );
}
