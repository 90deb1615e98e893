'use client';
import { useMutation } from '@tanstack/react-query';
import { useState } from 'react';
import { useTRPC } from '../trpc/provider.tsx';
import { Field, Input, Textarea } from '../ui/field.tsx';
import { FormDialog } from '../ui/form-dialog.tsx';
import { Link } from '../ui/link.tsx';
import { Select } from '../ui/select.tsx';
import { readSettings, writeSettings } from '../ui/settings-text.ts';
import { toast } from '../ui/toaster.tsx';
import { CredentialRows } from './credential-rows.tsx';
import { OriginsField, readOrigins } from './origins-field.tsx';
import { credentialsOf, draftOf, presets, problemOf } from './presets.ts';
import { useRefreshConnections } from './use-refresh-connections.ts';

const [first] = presets;

function startingWith(value: string) {
  const preset = presets.find(each => each.value === value) ?? first;
  return {
    preset: preset?.value ?? '',
    hint: preset?.hint ?? '',
    service: preset?.service ?? '',
    rows: (preset?.credentials ?? []).map(draftOf),
    settings: writeSettings(preset?.config ?? {}),
  };
}

/** Prefilled values, for a page that asks for a connection. */
export type ConnectionStart = {
  preset?: string;
  credentials?: readonly { name: string; secret: string }[];
  origins?: string;
};

function draftFrom({ preset = 'api_key', credentials }: ConnectionStart) {
  const draft = startingWith(preset);
  if (credentials === undefined) return draft;
  return { ...draft, rows: credentials.map(({ name, secret }) => ({ ...draftOf(name), secret })) };
}

/** Creates a connection from credentials. The credentials are entered here and never shown again. */
export function CreateConnectionDialog({
  onClose,
  onCreated,
  start = {},
}: {
  onClose: () => void;
  onCreated?: (made: { id: string }) => void;
  start?: ConnectionStart;
}) {
  const trpc = useTRPC();
  const refresh = useRefreshConnections();
  const [name, setName] = useState('');
  const [provider, setProvider] = useState('custom');
  const [draft, setDraft] = useState(() => draftFrom(start));
  const [origins, setOrigins] = useState(start.origins ?? '');
  const [problem, setProblem] = useState<string | null>(null);
  const create = useMutation(
    trpc.connections_create.mutationOptions({
      onSuccess: made => {
        onClose();
        onCreated?.(made);
        toast.success(`${made.name} is connected`);
        return refresh();
      },
    }),
  );
  const submit = () => {
    const read = readSettings(draft.settings, 'connection');
    const found =
      name.trim() === '' ? 'Enter a name.' : (problemOf(draft.rows) ?? ('problem' in read ? read.problem : null));
    setProblem(found);
    if (found !== null || 'problem' in read) return;
    create.mutate({
      display_name: name.trim(),
      provider: provider.trim() || 'custom',
      service: draft.service.trim() || 'custom',
      credentials: credentialsOf(draft.rows),
      config: read.settings,
      ...(readOrigins(origins).length === 0 ? {} : { origins: readOrigins(origins) }),
    });
  };
  return (
    <FormDialog
      onClose={onClose}
      title="Create connection"
      description="Its secrets are encrypted and never shown again."
      action="Create"
      pending={create.isPending}
      error={problem === null ? create.error : new Error(problem)}
      noValidate
      onSubmit={submit}
    >
      <Field label="Kind" hint={draft.hint}>
        <Select
          value={draft.preset}
          options={presets.map(({ value, label }) => ({ value, label }))}
          onChange={value => setDraft(startingWith(value))}
        />
      </Field>
      <Field label="Name" hint="Shown wherever people choose a connection, such as “GitHub (release team)”.">
        <Input value={name} maxLength={120} autoComplete="off" onChange={event => setName(event.target.value)} />
      </Field>
      <CredentialRows
        legend="Credentials"
        rows={draft.rows}
        onChange={rows => setDraft(former => ({ ...former, rows }))}
      />
      <OriginsField value={origins} onChange={setOrigins} />
      <details className="text-sm" open={draft.settings !== ''}>
        <summary className="cursor-default text-muted hover:text-text">More</summary>
        <div className="mt-3 flex flex-col gap-4">
          <div className="grid gap-4 sm:grid-cols-2">
            <Field label="Provider">
              <Input value={provider} maxLength={64} onChange={event => setProvider(event.target.value)} />
            </Field>
            <Field label="Service">
              <Input
                value={draft.service}
                maxLength={64}
                onChange={event => setDraft(former => ({ ...former, service: event.target.value }))}
              />
            </Field>
          </div>
          <SettingsField value={draft.settings} onChange={settings => setDraft(former => ({ ...former, settings }))} />
        </div>
      </details>
      <p className="text-xs text-muted">
        Keys for model providers are under{' '}
        <Link href="/settings/model-keys" className="underline hover:text-text">
          Model keys
        </Link>
        .
      </p>
    </FormDialog>
  );
}

/** The settings that are not secret, as JSON. */
export function SettingsField({ value, onChange }: { value: string; onChange: (value: string) => void }) {
  return (
    <Field
      label="Settings"
      optional
      hint="A JSON object with settings that are not secret. Everyone with access can see it."
    >
      <Textarea
        value={value}
        spellCheck={false}
        onChange={event => onChange(event.target.value)}
        className="font-mono text-xs"
      />
    </Field>
  );
}
