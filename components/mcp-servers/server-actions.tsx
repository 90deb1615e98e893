'use client';
import { useMutation } from '@tanstack/react-query';
import { Ellipsis, Pencil, Trash2 } from 'lucide-react';
import { useRouter } from 'next/navigation';
import { useState } from 'react';
import { useTRPC } from '../trpc/provider.tsx';
import { IconButton } from '../ui/button.tsx';
import { Field, Input } from '../ui/field.tsx';
import { FormDialog } from '../ui/form-dialog.tsx';
import { Menu, MenuItem } from '../ui/menu.tsx';
import type { FieldText } from '../ui/read-fields.ts';
import { toast } from '../ui/toaster.tsx';
import type { ServerDetail } from './auth-modes.ts';
import { ForceDelete } from './force-delete.tsx';
import { AuthModeField } from './register-dialog.tsx';
import { useRefreshMcp } from './use-refresh-mcp.ts';

/** A menu for editing and deleting a server. */
export function ServerActions({ server }: { server: ServerDetail }) {
  const [open, setOpen] = useState<'edit' | 'delete' | null>(null);
  return (
    <>
      <Menu
        trigger={
          <IconButton label={`Actions of ${server.name}`} tooltip={false}>
            <Ellipsis aria-hidden className="size-4" />
          </IconButton>
        }
      >
        <MenuItem icon={<Pencil aria-hidden className="size-3.5" />} onSelect={() => setOpen('edit')}>
          Edit
        </MenuItem>
        <MenuItem danger icon={<Trash2 aria-hidden className="size-3.5" />} onSelect={() => setOpen('delete')}>
          Delete
        </MenuItem>
      </Menu>
      {open === 'edit' ? <EditDialog server={server} onClose={() => setOpen(null)} /> : null}
      {open === 'delete' ? <DeleteDialog server={server} onClose={() => setOpen(null)} /> : null}
    </>
  );
}

function EditDialog({ server, onClose }: { server: ServerDetail; onClose: () => void }) {
  const trpc = useTRPC();
  const refresh = useRefreshMcp();
  const [url, setUrl] = useState(server.canonical_url);
  const [authMode, setAuthMode] = useState(server.auth_mode);
  const patch = useMutation(
    trpc.mcp_servers_patch.mutationOptions({
      onSuccess: () => {
        onClose();
        toast.success('Saved');
        return refresh();
      },
    }),
  );
  const moved = url.trim() !== server.canonical_url || authMode !== server.auth_mode;
  const submit = (text: FieldText) => {
    const name = text('name');
    patch.mutate({ id: server.id, name, ...(moved ? { canonical_url: url.trim(), auth_mode: authMode } : {}) });
  };
  return (
    <FormDialog
      onClose={onClose}
      title="Edit server"
      action="Save"
      pending={patch.isPending}
      error={patch.error}
      onSubmit={submit}
    >
      <Field label="Name">
        <Input name="name" required maxLength={120} defaultValue={server.name} autoComplete="off" />
      </Field>
      <Field label="Address">
        <Input
          type="url"
          required
          maxLength={2000}
          value={url}
          autoComplete="off"
          spellCheck={false}
          onChange={event => setUrl(event.target.value)}
        />
      </Field>
      <AuthModeField value={authMode} onChange={setAuthMode} />
      {moved && server.latest_version !== null ? (
        <p role="status" className="rounded-md bg-warn-soft px-3 py-2 text-sm text-warn">
          The server becomes a draft again. Its instances cannot be called until you discover and publish its tools at
          the new address.
        </p>
      ) : null}
    </FormDialog>
  );
}

function DeleteDialog({ server, onClose }: { server: ServerDetail; onClose: () => void }) {
  const trpc = useTRPC();
  const router = useRouter();
  const refresh = useRefreshMcp();
  const remove = useMutation(
    trpc.mcp_servers_delete.mutationOptions({
      onSuccess: () => {
        toast.success(`${server.name} is deleted`);
        router.push('/mcp-servers');
        void refresh();
      },
    }),
  );
  const instances = server.instance_count === 1 ? 'its instance' : `its ${server.instance_count} instances`;
  return (
    <ForceDelete
      id={server.id}
      name={server.name}
      force={
        server.instance_count > 0
          ? { label: `Delete ${instances} too`, hint: 'In every project. Steps that call them will fail.' }
          : null
      }
      remove={remove}
      onClose={onClose}
    >
      Its versions are deleted with it.
    </ForceDelete>
  );
}
