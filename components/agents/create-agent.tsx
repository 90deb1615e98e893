'use client';
import { useMutation, useQueryClient } from '@tanstack/react-query';
import { useRouter } from 'next/navigation';
import { useState } from 'react';
import { ModelField } from '../editor/inspector/pickers.tsx';
import { useTRPC } from '../trpc/provider.tsx';
import { readError } from '../ui/errors.ts';
import { Field, Input } from '../ui/field.tsx';
import { FormDialog } from '../ui/form-dialog.tsx';

/** Asks for the required fields of a new agent. The other fields are on the agent's page. */
export function CreateAgentDialog({ open, onClose }: { open: boolean; onClose: () => void }) {
  const trpc = useTRPC();
  const router = useRouter();
  const queries = useQueryClient();
  const [name, setName] = useState('');
  const [model, setModel] = useState('');
  const create = useMutation(
    trpc.agents_create.mutationOptions({
      onSuccess: agent => {
        void queries.invalidateQueries(trpc.agents_list.queryFilter());
        router.push(`/agents/${agent.id}`);
      },
    }),
  );
  const problem = (path: string) =>
    create.error ? readError(create.error).details.find(detail => detail.path === path)?.message : undefined;
  return (
    <FormDialog
      open={open}
      onClose={onClose}
      title="Create agent"
      action="Create agent"
      noValidate
      pending={create.isPending}
      disabled={name.trim() === '' || model === ''}
      error={create.error && problem('name') === undefined && problem('model') === undefined ? create.error : null}
      onSubmit={() => create.mutate({ name, model })}
    >
      <Field label="Name" required error={problem('name')}>
        <Input
          value={name}
          maxLength={200}
          autoComplete="off"
          autoFocus
          onChange={event => setName(event.target.value)}
        />
      </Field>
      <ModelField
        field={{ hint: 'provider/model, such as openai/gpt-5' }}
        value={model}
        onChange={value => setModel(typeof value === 'string' ? value : '')}
        problem={problem('model')}
        readOnly={false}
      />
    </FormDialog>
  );
}
