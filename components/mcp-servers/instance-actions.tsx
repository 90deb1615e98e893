'use client';
import { useMutation, useQuery } from '@tanstack/react-query';
import { Pencil, Trash2 } from 'lucide-react';
import { useRouter } from 'next/navigation';
import { useState } from 'react';
import { useTRPC } from '../trpc/provider.tsx';
import { Button } from '../ui/button.tsx';
import { Field, Input } from '../ui/field.tsx';
import { FormDialog } from '../ui/form-dialog.tsx';
import type { FieldText } from '../ui/read-fields.ts';
import { readSettings, writeSettings } from '../ui/settings-text.ts';
import { toast } from '../ui/toaster.tsx';
import type { InstanceDetail } from './auth-modes.ts';
import { ConnectionField } from './connection-select.tsx';
import { ForceDelete } from './force-delete.tsx';
import { SettingsField } from './settings-field.tsx';
import { useRefreshMcp } from './use-refresh-mcp.ts';
import { VersionField } from './version-field.tsx';

/** Editing and deleting an instance. */
export function InstanceActions({ instance }: { instance: InstanceDetail }) {
  const [open, setOpen] = useState<'edit' | 'delete' | null>(null);
  return (
    <>
      <Button icon={<Pencil aria-hidden className="size-3.5" />} onClick={() => setOpen('edit')}>
        Edit
      </Button>
      <Button variant="danger" icon={<Trash2 aria-hidden className="size-3.5" />} onClick={() => setOpen('delete')}>
        Delete
      </Button>
      {open === 'edit' ? <EditDialog instance={instance} onClose={() => setOpen(null)} /> : null}
      {open === 'delete' ? <DeleteDialog instance={instance} onClose={() => setOpen(null)} /> : null}
    </>
  );
}

function EditDialog({ instance, onClose }: { instance: InstanceDetail; onClose: () => void }) {
  const trpc = useTRPC();
  const refresh = useRefreshMcp();
  const server = useQuery(trpc.mcp_servers_get.queryOptions({ id: instance.server.id }));
  const [version, setVersion] = useState(instance.version);
  const [connection, setConnection] = useState(instance.connection_id ?? '');
  const [settings, setSettings] = useState(() => writeSettings(instance.config));
  const [problem, setProblem] = useState<string | null>(null);
  const patch = useMutation(
    trpc.mcp_instances_patch.mutationOptions({
      onSuccess: () => {
        onClose();
        toast.success('Saved');
        return refresh();
      },
    }),
  );
  const submit = (text: FieldText) => {
    const read = readSettings(settings, 'instance');
    setProblem('problem' in read ? read.problem : null);
    if ('problem' in read) return;
    const name = text('name');
    patch.mutate({ id: instance.id, name, version, connection_id: connection || null, config: read.settings });
  };
  const latest = server.data?.latest_version ?? instance.effective_version;
  return (
    <FormDialog
      onClose={onClose}
      title="Edit instance"
      description="Applies to calls from now on."
      action="Save"
      pending={patch.isPending}
      error={problem === null ? patch.error : new Error(problem)}
      onSubmit={submit}
    >
      <Field label="Name">
        <Input name="name" required maxLength={120} defaultValue={instance.name} autoComplete="off" />
      </Field>
      {latest === null ? null : <VersionField latest={latest} value={version} onChange={setVersion} />}
      <ConnectionField value={connection} known={instance.connection_name} onChange={setConnection} />
      <SettingsField value={settings} onChange={setSettings} />
    </FormDialog>
  );
}

function DeleteDialog({ instance, onClose }: { instance: InstanceDetail; onClose: () => void }) {
  const trpc = useTRPC();
  const router = useRouter();
  const refresh = useRefreshMcp();
  const remove = useMutation(
    trpc.mcp_instances_delete.mutationOptions({
      onSuccess: () => {
        toast.success(`${instance.name} is deleted`);
        router.push('/mcp-servers?view=instances');
        void refresh();
      },
    }),
  );
  const uses = instance.used_by.length;
  return (
    <ForceDelete
      id={instance.id}
      name={instance.name}
      force={
        uses > 0
          ? {
              label:
                uses === 1
                  ? 'Delete it even though a workflow uses it'
                  : `Delete it even though ${uses} workflows use it`,
              hint: 'Their steps will fail.',
            }
          : null
      }
      remove={remove}
      onClose={onClose}
    >
      Its profiles are deleted with it. The connection stays.
    </ForceDelete>
  );
}
