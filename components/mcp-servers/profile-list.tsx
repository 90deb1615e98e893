'use client';
import { useMutation, useQuery } from '@tanstack/react-query';
import { Pencil, Plus, SlidersHorizontal, Trash2 } from 'lucide-react';
import { useState } from 'react';
import { type Outputs, useTRPC } from '../trpc/provider.tsx';
import { Button, IconButton } from '../ui/button.tsx';
import { Card } from '../ui/card.tsx';
import { Confirm } from '../ui/confirm.tsx';
import { readError } from '../ui/errors.ts';
import { Skeleton } from '../ui/skeleton.tsx';
import { EmptyState, ErrorState } from '../ui/states.tsx';
import { Switch } from '../ui/switch.tsx';
import { Table, Td, THead, Th, Tr } from '../ui/table.tsx';
import { toast, toastError } from '../ui/toaster.tsx';
import type { InstanceDetail } from './auth-modes.ts';
import { ProfileDialog } from './profile-dialog.tsx';
import { useRefreshMcp } from './use-refresh-mcp.ts';

export type Profile = Outputs['mcp_config_profiles_list']['profiles'][number];

/** Profiles: sets of settings and connections, at most one of which is active. */
export function ProfileList({ instance }: { instance: InstanceDetail }) {
  const trpc = useTRPC();
  const query = useQuery(trpc.mcp_config_profiles_list.queryOptions({ id: instance.id }));
  const [editing, setEditing] = useState<Profile | 'new' | null>(null);
  const [deleting, setDeleting] = useState<Profile | null>(null);
  const create = (
    <Button icon={<Plus aria-hidden className="size-3.5" />} onClick={() => setEditing('new')}>
      Create profile
    </Button>
  );
  if (query.isError) return <ErrorState error={query.error} onRetry={() => void query.refetch()} />;
  const profiles = query.data?.profiles;
  return (
    <>
      <Card
        flush
        title="Profiles"
        description="The active profile’s settings override those of the instance, and its connection replaces the instance’s."
        actions={create}
      >
        {profiles === undefined ? (
          <Skeleton className="h-32 w-full" />
        ) : profiles.length === 0 ? (
          <EmptyState icon={SlidersHorizontal} title="No profiles">
            Create one for each environment, such as staging and production, and switch between them.
          </EmptyState>
        ) : (
          <Table label="Profiles">
            <THead>
              <Th>Name</Th>
              <Th>Active</Th>
              <Th>Connection</Th>
              <Th>Settings</Th>
              <Th>
                <span className="sr-only">Actions</span>
              </Th>
            </THead>
            <tbody>
              {profiles.map(profile => (
                <ProfileRow
                  key={profile.id}
                  profile={profile}
                  onEdit={() => setEditing(profile)}
                  onDelete={() => setDeleting(profile)}
                />
              ))}
            </tbody>
          </Table>
        )}
      </Card>
      {editing === null ? null : (
        <ProfileDialog
          instanceId={instance.id}
          profile={editing === 'new' ? null : editing}
          onClose={() => setEditing(null)}
        />
      )}
      {deleting === null ? null : <DeleteProfile profile={deleting} onClose={() => setDeleting(null)} />}
    </>
  );
}

function ProfileRow({ profile, onEdit, onDelete }: { profile: Profile; onEdit: () => void; onDelete: () => void }) {
  const trpc = useTRPC();
  const refresh = useRefreshMcp();
  const turn = useMutation(
    trpc.mcp_config_profiles_set_active.mutationOptions({ onSuccess: () => refresh(), onError: toastError }),
  );
  const count = Object.keys(profile.settings).length;
  return (
    <Tr>
      <Td className="max-w-60 min-w-32 truncate font-medium">{profile.name}</Td>
      <Td>
        <Switch
          label={`${profile.name} is active`}
          checked={profile.active}
          disabled={turn.isPending}
          onCheckedChange={active => turn.mutate({ id: profile.instance_id, profile_id: profile.id, active })}
        />
      </Td>
      <Td className="max-w-60 truncate text-muted">{profile.connection_name ?? 'The instance’s own'}</Td>
      <Td className="text-muted tabular-nums">{count === 0 ? '—' : count}</Td>
      <Td className="text-right whitespace-nowrap">
        <IconButton label={`Edit ${profile.name}`} size="sm" onClick={onEdit}>
          <Pencil aria-hidden className="size-3.5" />
        </IconButton>
        <IconButton label={`Delete ${profile.name}`} size="sm" onClick={onDelete}>
          <Trash2 aria-hidden className="size-3.5" />
        </IconButton>
      </Td>
    </Tr>
  );
}

function DeleteProfile({ profile, onClose }: { profile: Profile; onClose: () => void }) {
  const trpc = useTRPC();
  const refresh = useRefreshMcp();
  const remove = useMutation(
    trpc.mcp_config_profiles_delete.mutationOptions({
      onSuccess: () => {
        onClose();
        toast.success(`${profile.name} is deleted`);
        return refresh();
      },
    }),
  );
  return (
    <Confirm
      open
      onOpenChange={open => !open && onClose()}
      title={`Delete ${profile.name}?`}
      action="Delete"
      pending={remove.isPending}
      error={remove.error ? readError(remove.error).message : null}
      onConfirm={() => remove.mutate({ id: profile.instance_id, profile_id: profile.id })}
    >
      {profile.active
        ? 'It is active. After that, the instance’s own settings and connection are used.'
        : 'It is not in use.'}
    </Confirm>
  );
}
