'use client';
import { useMutation } from '@tanstack/react-query';
import { useState } from 'react';
import { useTRPC } from '../trpc/provider.tsx';
import { Field, Input } from '../ui/field.tsx';
import { FormDialog } from '../ui/form-dialog.tsx';
import type { FieldText } from '../ui/read-fields.ts';
import { readSettings, writeSettings } from '../ui/settings-text.ts';
import { toast } from '../ui/toaster.tsx';
import { ConnectionField } from './connection-select.tsx';
import type { Profile } from './profile-list.tsx';
import { SettingsField } from './settings-field.tsx';
import { useRefreshMcp } from './use-refresh-mcp.ts';

/** Creates or edits a profile. */
export function ProfileDialog({
  instanceId,
  profile,
  onClose,
}: {
  instanceId: string;
  /** Null for a new profile. */
  profile: Profile | null;
  onClose: () => void;
}) {
  const trpc = useTRPC();
  const refresh = useRefreshMcp();
  const [connection, setConnection] = useState(profile?.connection_id ?? '');
  const [settings, setSettings] = useState(() => writeSettings(profile?.settings ?? {}));
  const [problem, setProblem] = useState<string | null>(null);
  const done = {
    onSuccess: (saved: { name: string }) => {
      onClose();
      toast.success(`${saved.name} is saved`);
      return refresh();
    },
  };
  const create = useMutation(trpc.mcp_config_profiles_create.mutationOptions(done));
  const patch = useMutation(trpc.mcp_config_profiles_patch.mutationOptions(done));
  const error = profile === null ? create.error : patch.error;
  const submit = (text: FieldText) => {
    const read = readSettings(settings, 'instance');
    setProblem('problem' in read ? read.problem : null);
    if ('problem' in read) return;
    const name = text('name');
    const fields = { id: instanceId, name, settings: read.settings, connection_id: connection || null };
    if (profile === null) create.mutate(fields);
    else patch.mutate({ ...fields, profile_id: profile.id });
  };
  return (
    <FormDialog
      onClose={onClose}
      title={profile === null ? 'Create profile' : `Edit ${profile.name}`}
      action="Save"
      pending={create.isPending || patch.isPending}
      error={problem === null ? error : new Error(problem)}
      onSubmit={submit}
    >
      <Field label="Name">
        <Input name="name" required maxLength={120} defaultValue={profile?.name ?? ''} autoComplete="off" />
      </Field>
      <ConnectionField
        value={connection}
        known={profile?.connection_name ?? null}
        none="The instance’s own"
        onChange={setConnection}
      />
      <SettingsField value={settings} onChange={setSettings} />
    </FormDialog>
  );
}
