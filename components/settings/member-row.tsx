'use client';
import { useMutation, useQueryClient } from '@tanstack/react-query';
import { UserMinus } from 'lucide-react';
import { useState } from 'react';
import { usePermissions, useSession } from '../session/session.tsx';
import { type Outputs, useTRPC } from '../trpc/provider.tsx';
import { Badge } from '../ui/badge.tsx';
import { IconButton } from '../ui/button.tsx';
import { Confirm } from '../ui/confirm.tsx';
import { readError } from '../ui/errors.ts';
import { Select } from '../ui/select.tsx';
import { Switch } from '../ui/switch.tsx';
import { Td, Tr } from '../ui/table.tsx';
import { RelativeTime } from '../ui/time.tsx';
import { toast, toastError } from '../ui/toaster.tsx';
import { type ProjectRole, projectRoleOptions, roleLabel } from './roles.ts';

type Member = Outputs['members_list']['members'][number];

export function MemberRow({ member }: { member: Member }) {
  const trpc = useTRPC();
  const queries = useQueryClient();
  const { me } = useSession();
  const { isAdmin } = usePermissions();
  const [removing, setRemoving] = useState(false);
  const update = useMutation(
    trpc.members_update.mutationOptions({
      onSuccess: () => toast.success(`${member.name} is changed`),
      onError: toastError,
      // Also after a refusal: the row must show the stored role, not the requested one.
      onSettled: () =>
        Promise.all([
          queries.invalidateQueries(trpc.members_list.queryFilter()),
          queries.invalidateQueries(trpc.me_get.queryFilter()),
        ]),
    }),
  );
  const self = member.user_id === me.user.id;
  return (
    <Tr>
      <Td className="min-w-44">
        <span className="flex items-center gap-2 font-medium">
          {member.name}
          {self ? <Badge>You</Badge> : null}
          {isAdmin && !member.confirmed ? (
            <Badge tone="warn" title="This person has not confirmed that the address is theirs.">
              Not confirmed
            </Badge>
          ) : null}
        </span>
        <span className="block text-xs text-muted">{member.email}</span>
      </Td>
      <Td>
        {isAdmin && !member.tenant_admin ? (
          <Select<ProjectRole>
            label={`Role of ${member.name}`}
            size="sm"
            className="w-36"
            placeholder="No role here"
            value={member.role ?? undefined}
            disabled={update.isPending}
            options={projectRoleOptions}
            onChange={role => update.mutate({ user_id: member.user_id, role })}
          />
        ) : (
          <span className="text-muted">{member.tenant_admin ? 'Contributor everywhere' : roleLabel(member.role)}</span>
        )}
      </Td>
      <Td>
        {isAdmin ? (
          <Switch
            label={`${member.name} is workspace admin`}
            checked={member.tenant_admin}
            disabled={update.isPending}
            onCheckedChange={tenant_admin => update.mutate({ user_id: member.user_id, tenant_admin })}
          />
        ) : (
          <span className="text-muted">{member.tenant_admin ? 'Yes' : 'No'}</span>
        )}
      </Td>
      <Td>
        <RelativeTime at={member.created_at} />
      </Td>
      <Td className="w-10 text-right">
        {isAdmin ? (
          <IconButton label={`Remove ${member.name}`} size="sm" onClick={() => setRemoving(true)}>
            <UserMinus aria-hidden className="size-3.5" />
          </IconButton>
        ) : null}
        <RemoveConfirm member={member} open={removing} onOpenChange={setRemoving} />
      </Td>
    </Tr>
  );
}

function RemoveConfirm({
  member,
  open,
  onOpenChange,
}: {
  member: Member;
  open: boolean;
  onOpenChange: (open: boolean) => void;
}) {
  const trpc = useTRPC();
  const queries = useQueryClient();
  const { me } = useSession();
  const remove = useMutation(
    trpc.members_remove.mutationOptions({
      onSuccess: () => {
        onOpenChange(false);
        toast.success(`${member.name} is removed`);
        return queries.invalidateQueries(trpc.members_list.queryFilter());
      },
    }),
  );
  return (
    <Confirm
      open={open}
      onOpenChange={onOpenChange}
      title={member.user_id === me.user.id ? 'Leave this workspace?' : `Remove ${member.name}?`}
      action="Remove"
      pending={remove.isPending}
      error={remove.error ? readError(remove.error).message : null}
      onConfirm={() => remove.mutate({ user_id: member.user_id })}
    >
      {member.email} loses access to every project of the workspace at once, and their API keys here stop working.
    </Confirm>
  );
}
