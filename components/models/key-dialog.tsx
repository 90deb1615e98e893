'use client';
import { useMutation } from '@tanstack/react-query';
import { useState } from 'react';
import { SecretInput } from '../connections/secret-input.tsx';
import { useRefreshModels } from '../connections/use-refresh-models.ts';
import { useTRPC } from '../trpc/provider.tsx';
import { readError } from '../ui/errors.ts';
import { Field, Input, Textarea } from '../ui/field.tsx';
import { FormDialog } from '../ui/form-dialog.tsx';
import type { FieldText } from '../ui/read-fields.ts';
import { Select } from '../ui/select.tsx';
import { toast } from '../ui/toaster.tsx';
import { type ModelKey, type Provider, providerLabels } from './provider-labels.ts';

const options = (Object.keys(providerLabels) as Provider[]).map(value => ({ value, label: providerLabels[value] }));
/** Fields that show their own errors. */
const ownFields: readonly string[] = ['name', 'api_key', 'base_url', 'models'];

type Entered = { name: string; api_key: string; base_url: string; models: string[] };

/** Adds a model key, or replaces the values of `former`. The field of the key is never prefilled. */
export function KeyDialog({ previous, onClose }: { previous?: ModelKey; onClose: () => void }) {
  const [provider, setProvider] = useState<Provider>(previous?.provider ?? 'openai');
  const save = useSave(previous, provider, onClose);
  const submit = (text: FieldText) => {
    const models = text('models')
      .split(/[\s,]+/)
      .filter(Boolean);
    save.submit({ name: text('name'), api_key: text('api_key'), base_url: text('base_url'), models });
  };
  return (
    <FormDialog
      onClose={onClose}
      title={previous ? `Replace ${previous.name}` : 'Add model key'}
      description="The key is stored in the secret store and belongs to this project."
      action={previous ? 'Save' : 'Add'}
      pending={save.isPending}
      error={save.elsewhere ? save.error : null}
      onSubmit={submit}
    >
      {previous ? null : (
        <Field label="Provider">
          <Select<Provider> value={provider} options={options} onChange={setProvider} />
        </Field>
      )}
      <KeyFields provider={provider} previous={previous} errorOf={save.errorOf} />
    </FormDialog>
  );
}

function KeyFields({
  provider,
  previous,
  errorOf,
}: {
  provider: Provider;
  previous: ModelKey | undefined;
  errorOf: (field: keyof Entered) => string | undefined;
}) {
  const compatible = provider === 'openai_compatible';
  return (
    <>
      <Field
        label="API key"
        optional={compatible || previous !== undefined}
        required={!compatible && previous === undefined}
        hint={
          previous
            ? 'Leave empty to keep the current key. A base URL on another host needs the key again.'
            : compatible
              ? 'Leave empty if the server needs no key.'
              : undefined
        }
        error={errorOf('api_key')}
      >
        <SecretInput name="api_key" required={!compatible && previous === undefined} />
      </Field>
      <Field label="Name" optional error={errorOf('name')}>
        <Input
          name="name"
          maxLength={120}
          autoComplete="off"
          defaultValue={previous?.name}
          placeholder={providerLabels[provider]}
        />
      </Field>
      <Field
        label="Base URL"
        optional={!compatible}
        required={compatible}
        hint={
          compatible
            ? 'Up to and including /v1. The operator must allow a server in a private network.'
            : 'Only for a proxy. Empty: the provider’s own URL.'
        }
        error={errorOf('base_url')}
      >
        <Input
          name="base_url"
          type="url"
          required={compatible}
          maxLength={500}
          autoComplete="off"
          defaultValue={previous?.base_url ?? ''}
          placeholder={compatible ? 'http://127.0.0.1:11434/v1' : 'https://'}
        />
      </Field>
      {compatible ? (
        <Field
          label="Models"
          optional
          hint="One per line, as the server names them. If empty, steps can use any model."
          error={errorOf('models')}
        >
          <Textarea
            name="models"
            rows={3}
            className="font-mono"
            spellCheck={false}
            defaultValue={previous?.models.join('\n')}
          />
        </Field>
      ) : null}
    </>
  );
}

/** Creates or patches a key, and assigns errors to fields. */
function useSave(previous: ModelKey | undefined, provider: Provider, onClose: () => void) {
  const trpc = useTRPC();
  const refresh = useRefreshModels();
  const onSuccess = ({ name }: ModelKey) => {
    onClose();
    toast.success(previous ? `${name} is replaced` : `${name} is added`);
    return refresh();
  };
  const create = useMutation(trpc.llm_provider_keys_create.mutationOptions({ onSuccess }));
  const patch = useMutation(trpc.llm_provider_keys_patch.mutationOptions({ onSuccess }));
  const { error, isPending } = previous ? patch : create;
  const details = error ? readError(error).details : [];
  const fieldOf = (path: string) => path.replace(/\[.*$/, '');
  return {
    error,
    isPending,
    elsewhere: error !== null && !(details.length > 0 && details.every(each => ownFields.includes(fieldOf(each.path)))),
    errorOf: (field: keyof Entered) => details.find(each => fieldOf(each.path) === field)?.message,
    submit({ name, api_key, base_url, models }: Entered) {
      const given = { ...(name ? { name } : {}), ...(api_key ? { api_key } : {}) };
      const compatible = provider === 'openai_compatible';
      if (previous) {
        patch.mutate({ id: previous.id, ...given, base_url: base_url || null, ...(compatible ? { models } : {}) });
      } else {
        const server = { ...(base_url ? { base_url } : {}), ...(compatible && models.length > 0 ? { models } : {}) };
        create.mutate({ provider, ...given, ...server });
      }
    },
  };
}
