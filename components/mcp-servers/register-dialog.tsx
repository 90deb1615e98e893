'use client';
import { useMutation } from '@tanstack/react-query';
import { useRouter } from 'next/navigation';
import { useState } from 'react';
import { useTRPC } from '../trpc/provider.tsx';
import { Field, Input } from '../ui/field.tsx';
import { FormDialog } from '../ui/form-dialog.tsx';
import type { FieldText } from '../ui/read-fields.ts';
import { Select } from '../ui/select.tsx';
import { type AuthMode, authModes } from './auth-modes.ts';
import { useRefreshMcp } from './use-refresh-mcp.ts';

/** Registers a server by its address, and opens its page, which discovers its tools. */
export function RegisterDialog({ onClose }: { onClose: () => void }) {
  const trpc = useTRPC();
  const router = useRouter();
  const refresh = useRefreshMcp();
  const [authMode, setAuthMode] = useState<AuthMode>('none');
  const create = useMutation(
    trpc.mcp_servers_create.mutationOptions({
      onSuccess: server => {
        void refresh();
        router.push(`/mcp-servers/${server.id}`);
      },
    }),
  );
  const submit = (text: FieldText) => {
    create.mutate({ name: text('name'), canonical_url: text('url'), auth_mode: authMode });
  };
  return (
    <FormDialog
      onClose={onClose}
      title="Register server"
      description="It is a draft until its tools are discovered and published."
      action="Register"
      pending={create.isPending || create.isSuccess}
      error={create.error}
      onSubmit={submit}
    >
      <Field label="Name">
        <Input name="name" required maxLength={120} autoComplete="off" />
      </Field>
      <Field label="Address" hint="Its MCP address over HTTP, such as https://mcp.example.com/mcp.">
        <Input name="url" type="url" required maxLength={2000} autoComplete="off" spellCheck={false} />
      </Field>
      <AuthModeField value={authMode} onChange={setAuthMode} />
    </FormDialog>
  );
}

export function AuthModeField({ value, onChange }: { value: AuthMode; onChange: (mode: AuthMode) => void }) {
  const { hint } = authModes.find(each => each.value === value) ?? { hint: '' };
  return (
    <Field label="Sign-in" hint={`${hint}. Credentials are stored in a connection.`}>
      <Select<AuthMode>
        value={value}
        options={authModes.map(({ value: mode, label }) => ({ value: mode, label }))}
        onChange={onChange}
      />
    </Field>
  );
}
