'use client';
import { useMutation } from '@tanstack/react-query';
import { useRouter } from 'next/navigation';
import { type FormEvent, useId, useState } from 'react';
import { useTRPC } from '../trpc/provider.tsx';
import { Button } from '../ui/button.tsx';
import { Dialog } from '../ui/dialog.tsx';
import { Field, Input } from '../ui/field.tsx';
import { Select } from '../ui/select.tsx';
import { FormError } from '../ui/states.tsx';
import { type AuthMode, authModes } from './auth-modes.ts';
import { useRefreshMcp } from './use-refresh-mcp.ts';

/** Registers a server by its address; leads to its page, where its tools are discovered. */
export function RegisterDialog({ onClose }: { onClose: () => void }) {
  const trpc = useTRPC();
  const router = useRouter();
  const refresh = useRefreshMcp();
  const formId = useId();
  const [authMode, setAuthMode] = useState<AuthMode>('none');
  const create = useMutation(
    trpc.mcp_servers_create.mutationOptions({
      onSuccess: server => {
        void refresh();
        router.push(`/mcp-servers/${server.id}`);
      },
    }),
  );
  const submit = (event: FormEvent<HTMLFormElement>) => {
    event.preventDefault();
    const form = new FormData(event.currentTarget);
    const text = (name: string) => String(form.get(name) ?? '').trim();
    create.mutate({ name: text('name'), canonical_url: text('url'), auth_mode: authMode });
  };
  return (
    <Dialog
      open
      onOpenChange={open => !open && onClose()}
      title="Register server"
      description="It is a draft until its tools are discovered and published."
      footer={
        <>
          <Button onClick={onClose}>Cancel</Button>
          <Button variant="primary" type="submit" form={formId} pending={create.isPending || create.isSuccess}>
            Register
          </Button>
        </>
      }
    >
      <form id={formId} onSubmit={submit} className="flex flex-col gap-4">
        <FormError error={create.error} />
        <Field label="Name">
          <Input name="name" required maxLength={120} autoComplete="off" />
        </Field>
        <Field label="Address" hint="Where it speaks MCP over HTTP, such as https://mcp.example.com/mcp.">
          <Input name="url" type="url" required maxLength={2000} autoComplete="off" spellCheck={false} />
        </Field>
        <AuthModeField value={authMode} onChange={setAuthMode} />
      </form>
    </Dialog>
  );
}

export function AuthModeField({ value, onChange }: { value: AuthMode; onChange: (mode: AuthMode) => void }) {
  const { hint } = authModes.find(each => each.value === value) ?? { hint: '' };
  return (
    <Field label="Sign-in" hint={`${hint}. Credentials themselves are kept in a connection.`}>
      <Select<AuthMode>
        value={value}
        options={authModes.map(({ value: mode, label }) => ({ value: mode, label }))}
        onChange={onChange}
      />
    </Field>
  );
}
