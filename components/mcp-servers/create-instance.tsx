'use client';
import { useMutation, useQuery } from '@tanstack/react-query';
import { Blocks } from 'lucide-react';
import { useRouter } from 'next/navigation';
import { type FormEvent, useId, useState } from 'react';
import { useTRPC } from '../trpc/provider.tsx';
import { ButtonLink } from '../ui/button.tsx';
import { Dialog } from '../ui/dialog.tsx';
import { Field, Input } from '../ui/field.tsx';
import { FormActions } from '../ui/form-dialog.tsx';
import { Select } from '../ui/select.tsx';
import { readSettings } from '../ui/settings-text.ts';
import { Skeleton } from '../ui/skeleton.tsx';
import { EmptyState, ErrorState, FormError } from '../ui/states.tsx';
import type { Server } from './auth-modes.ts';
import { ConnectionField } from './connection-select.tsx';
import { SettingsField } from './settings-field.tsx';
import { useRefreshMcp } from './use-refresh-mcp.ts';
import { VersionField } from './version-field.tsx';

/** Asks for the server, the connection and the name, in this order, because each choice narrows the next. */
export function CreateInstanceDialog({ serverId, onClose }: { serverId: string; onClose: () => void }) {
  const trpc = useTRPC();
  const servers = useQuery(trpc.mcp_servers_list.queryOptions({ limit: 200, status: 'published' }));
  const formId = useId();
  const [pending, setPending] = useState(false);
  const list = servers.data?.servers;
  return (
    <Dialog
      open
      onOpenChange={open => !open && onClose()}
      title="Create instance"
      description="Steps in this project call the server’s tools through it."
      footer={
        <FormActions formId={formId} onCancel={onClose} action="Create" pending={pending} disabled={!list?.length} />
      }
    >
      {servers.isError ? (
        <ErrorState error={servers.error} onRetry={() => void servers.refetch()} />
      ) : list === undefined ? (
        <Skeleton className="h-60 w-full" />
      ) : list.length === 0 ? (
        <EmptyState
          icon={Blocks}
          title="No server is published yet"
          action={<ButtonLink href="/mcp-servers">Go to servers</ButtonLink>}
        >
          Register a server, discover its tools and publish them first.
        </EmptyState>
      ) : (
        <InstanceForm formId={formId} servers={list} serverId={serverId} onPending={setPending} />
      )}
    </Dialog>
  );
}

function InstanceForm({
  formId,
  servers,
  serverId,
  onPending,
}: {
  formId: string;
  servers: readonly Server[];
  serverId: string;
  onPending: (pending: boolean) => void;
}) {
  const trpc = useTRPC();
  const router = useRouter();
  const refresh = useRefreshMcp();
  const [chosen, setChosen] = useState(servers.find(({ id }) => id === serverId) ?? servers[0]);
  const [version, setVersion] = useState<number | null>(null);
  const [connection, setConnection] = useState('');
  const [name, setName] = useState<string | null>(null);
  const [settings, setSettings] = useState('');
  const [problem, setProblem] = useState<string | null>(null);
  const create = useMutation(
    trpc.mcp_instances_create.mutationOptions({
      onMutate: () => onPending(true),
      onError: () => onPending(false),
      onSuccess: instance => {
        void refresh();
        router.push(`/mcp-servers/instances/${instance.id}`);
      },
    }),
  );
  const submit = (event: FormEvent<HTMLFormElement>) => {
    event.preventDefault();
    const read = readSettings(settings, 'instance');
    setProblem('problem' in read ? read.problem : null);
    if ('problem' in read || !chosen) return;
    create.mutate({
      server_id: chosen.id,
      version,
      name: (name ?? chosen.name).trim(),
      connection_id: connection || null,
      config: read.settings,
    });
  };
  return (
    <form id={formId} onSubmit={submit} className="flex flex-col gap-4">
      <FormError error={problem === null ? create.error : new Error(problem)} />
      <Field label="Server">
        <Select
          value={chosen?.id}
          options={servers.map(({ id, name: label }) => ({ value: id, label }))}
          onChange={id => {
            setChosen(servers.find(server => server.id === id));
            setVersion(null);
          }}
        />
      </Field>
      {chosen?.latest_version == null ? null : (
        <VersionField latest={chosen.latest_version} value={version} onChange={setVersion} />
      )}
      <ConnectionField
        value={connection}
        hint={
          chosen?.auth_mode === 'none'
            ? 'This server needs no credentials, so none are sent.'
            : 'The connection’s credentials are sent with every call.'
        }
        onChange={setConnection}
      />
      <Field label="Name" hint="Shown when people choose an instance in a step.">
        <Input
          required
          maxLength={120}
          value={name ?? chosen?.name ?? ''}
          autoComplete="off"
          onChange={event => setName(event.target.value)}
        />
      </Field>
      <details className="text-sm">
        <summary className="cursor-default text-muted hover:text-text">More</summary>
        <div className="mt-3">
          <SettingsField value={settings} onChange={setSettings} />
        </div>
      </details>
    </form>
  );
}
