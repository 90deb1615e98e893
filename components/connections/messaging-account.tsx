'use client';
import { useMutation } from '@tanstack/react-query';
import { useState } from 'react';
import { useTRPC } from '../trpc/provider.tsx';
import { Field, Input } from '../ui/field.tsx';
import { FormDialog } from '../ui/form-dialog.tsx';
import { toast } from '../ui/toaster.tsx';
import type { Connection } from './connection-status.tsx';
import { SecretInput } from './secret-input.tsx';
import { useRefreshConnections } from './use-refresh-connections.ts';

const text = (value: unknown) => (typeof value === 'string' ? value : '');

/** The credentials of a business account, tested before they are saved. With `former`, they replace those of an existing connection. */
export function MessagingAccountDialog({ former, onClose }: { former?: Connection; onClose: () => void }) {
  const trpc = useTRPC();
  const refresh = useRefreshConnections();
  const [draft, setDraft] = useState({
    display_name: former?.name ?? '',
    business_account_id: text(former?.config.business_account_id),
    phone_number_id: text(former?.config.phone_number_id),
    access_token: '',
    app_secret: '',
  });
  const save = useMutation(
    trpc.connections_messaging_manual.mutationOptions({
      onSuccess: made => {
        onClose();
        toast.success(`${made.name} is connected`);
        return refresh();
      },
    }),
  );
  const submit = () => {
    const { app_secret, ...required } = draft;
    save.mutate({
      ...required,
      ...(app_secret === '' ? {} : { app_secret }),
      ...(former === undefined ? {} : { connection_id: former.id }),
    });
  };
  const control = (name: keyof typeof draft) => ({
    value: draft[name],
    onChange: (event: { target: { value: string } }) =>
      setDraft(current => ({ ...current, [name]: event.target.value })),
  });
  return (
    <FormDialog
      onClose={onClose}
      title={former ? `Connect ${former.name} again` : 'Connect a messaging account'}
      description="The credentials are tested before they are saved, and never shown again."
      action="Connect"
      pending={save.isPending}
      error={save.error}
      onSubmit={submit}
    >
      <Field label="Name">
        <Input required maxLength={120} autoComplete="off" {...control('display_name')} />
      </Field>
      <div className="grid gap-4 sm:grid-cols-2">
        <Field label="Business account ID">
          <Input required maxLength={64} autoComplete="off" {...control('business_account_id')} />
        </Field>
        <Field label="Phone number ID">
          <Input required maxLength={64} autoComplete="off" {...control('phone_number_id')} />
        </Field>
      </div>
      <Field label="Access token">
        <SecretInput required {...control('access_token')} />
      </Field>
      <Field label="App secret" optional hint="The provider signs its messages with it.">
        <SecretInput {...control('app_secret')} />
      </Field>
    </FormDialog>
  );
}
