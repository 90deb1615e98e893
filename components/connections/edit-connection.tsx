'use client';
import { useMutation, useQuery } from '@tanstack/react-query';
import { Pencil, Undo2, X } from 'lucide-react';
import { useState } from 'react';
import { useTRPC } from '../trpc/provider.tsx';
import { IconButton } from '../ui/button.tsx';
import { Field, Input } from '../ui/field.tsx';
import { FormDialog } from '../ui/form-dialog.tsx';
import { readSettings, writeSettings } from '../ui/settings-text.ts';
import { FormError } from '../ui/states.tsx';
import { RelativeTime } from '../ui/time.tsx';
import { toast } from '../ui/toaster.tsx';
import type { Connection } from './connection-status.tsx';
import { SettingsField } from './create-connection.tsx';
import { CredentialRows } from './credential-rows.tsx';
import { OriginsField, readOrigins } from './origins-field.tsx';
import { type CredentialDraft, credentialsOf, problemOf } from './presets.ts';
import { SecretInput } from './secret-input.tsx';
import { useRefreshConnections } from './use-refresh-connections.ts';

/** The changes of existing credentials: null removes one, a text replaces it, and an absent one is kept. */
type Changes = Readonly<Record<string, string | null>>;

/** Renames a connection, and replaces its secrets without showing them. A provider's flow manages the secrets that it created. */
export function EditConnectionDialog({ connection, onClose }: { connection: Connection; onClose: () => void }) {
  const trpc = useTRPC();
  const refresh = useRefreshConnections();
  const managed = connection.provider === 'suite' || connection.provider === 'messaging';
  const [name, setName] = useState(connection.name);
  const [changes, setChanges] = useState<Changes>({});
  const [added, setAdded] = useState<CredentialDraft[]>([]);
  const before = writeSettings(connection.config);
  const [settings, setSettings] = useState(before);
  const savedOrigins = connection.origins.join(' ');
  const [origins, setOrigins] = useState(savedOrigins);
  const [problem, setProblem] = useState<string | null>(null);
  const patch = useMutation(
    trpc.connections_patch.mutationOptions({
      onSuccess: changed => {
        onClose();
        toast.success(`${changed.name} is saved`);
        return refresh();
      },
    }),
  );
  const submit = () => {
    const read = readSettings(settings, 'connection');
    const kept = connection.credential_keys.filter(key => changes[key] !== null);
    const replaced = Object.entries(changes).find(([, secret]) => secret === '');
    const found =
      name.trim() === ''
        ? 'Enter a name.'
        : replaced
          ? `The new secret of “${replaced[0]}” is missing.`
          : (problemOf(added, kept) ?? ('problem' in read ? read.problem : null));
    setProblem(found);
    if (found !== null || 'problem' in read) return;
    const credentials = { ...changes, ...credentialsOf(added) };
    patch.mutate({
      id: connection.id,
      ...(name.trim() === connection.name ? {} : { display_name: name.trim() }),
      ...(Object.keys(credentials).length === 0 ? {} : { credentials }),
      ...(settings === before ? {} : { config: read.settings }),
      ...(origins.trim() === savedOrigins ? {} : { origins: readOrigins(origins) }),
    });
  };
  return (
    <FormDialog
      onClose={onClose}
      title={`Edit ${connection.name}`}
      action="Save"
      pending={patch.isPending}
      error={problem === null ? patch.error : new Error(problem)}
      noValidate
      onSubmit={submit}
    >
      <Field label="Name">
        <Input value={name} maxLength={120} autoComplete="off" onChange={event => setName(event.target.value)} />
      </Field>
      {managed ? null : (
        <>
          <PresentCredentials connection={connection} changes={changes} onChange={setChanges} />
          <CredentialRows legend="More credentials" minimum={0} rows={added} onChange={setAdded} />
          <OriginsField changing value={origins} onChange={setOrigins} />
          <SettingsField value={settings} onChange={setSettings} />
        </>
      )}
    </FormDialog>
  );
}

/** The existing credentials: their names and when each was set, without their secrets. */
function PresentCredentials({
  connection,
  changes,
  onChange,
}: {
  connection: Connection;
  changes: Changes;
  onChange: (changes: Changes) => void;
}) {
  const trpc = useTRPC();
  const metadata = useQuery(trpc.connections_credentials_get.queryOptions({ id: connection.id }));
  const setAt = new Map(metadata.data?.credentials.map(each => [each.name, each.set_at]));
  const keep = (key: string) => onChange(Object.fromEntries(Object.entries(changes).filter(([each]) => each !== key)));
  return (
    <fieldset className="flex flex-col gap-2">
      <legend className="mb-1.5 text-sm font-medium">Credentials</legend>
      {metadata.isError ? <FormError error={metadata.error} /> : null}
      {connection.credential_keys.map(key => {
        const change = changes[key];
        const at = setAt.get(key);
        return (
          <div key={key} className="flex items-start gap-2 rounded-md border px-2.5 py-1.5">
            <div className="min-w-0 flex-1">
              <p className="flex min-h-7 flex-wrap items-center gap-x-2 text-sm">
                <code className={change === null ? 'text-muted line-through' : ''}>{key}</code>
                {change === null ? <span className="text-xs text-bad">will be removed</span> : null}
                {change === undefined && at !== undefined ? (
                  <span className="text-xs text-muted">
                    set <RelativeTime at={at} />
                  </span>
                ) : null}
              </p>
              {typeof change === 'string' ? (
                <SecretInput
                  autoFocus
                  aria-label={`New secret of ${key}`}
                  placeholder="New secret"
                  value={change}
                  onChange={event => onChange({ ...changes, [key]: event.target.value })}
                  className="mb-1 w-full"
                />
              ) : null}
            </div>
            {change === undefined ? (
              <>
                <IconButton label={`Replace ${key}`} size="sm" onClick={() => onChange({ ...changes, [key]: '' })}>
                  <Pencil aria-hidden className="size-3.5" />
                </IconButton>
                <IconButton label={`Remove ${key}`} size="sm" onClick={() => onChange({ ...changes, [key]: null })}>
                  <X aria-hidden className="size-3.5" />
                </IconButton>
              </>
            ) : (
              <IconButton label={`Keep ${key} as it is`} size="sm" onClick={() => keep(key)}>
                <Undo2 aria-hidden className="size-3.5" />
              </IconButton>
            )}
          </div>
        );
      })}
    </fieldset>
  );
}
