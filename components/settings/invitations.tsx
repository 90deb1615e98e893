'use client';
import { useMutation, useQuery, useQueryClient } from '@tanstack/react-query';
import { Trash2 } from 'lucide-react';
import { useState } from 'react';
import { type Outputs, useTRPC } from '../trpc/provider.tsx';
import { IconButton } from '../ui/button.tsx';
import { Card } from '../ui/card.tsx';
import { Confirm } from '../ui/confirm.tsx';
import { readError } from '../ui/errors.ts';
import { FormError } from '../ui/states.tsx';
import { Table, Td, THead, Th, Tr } from '../ui/table.tsx';
import { RelativeTime } from '../ui/time.tsx';
import { toast } from '../ui/toaster.tsx';
import { roleLabel } from './roles.ts';

type Invitation = Outputs['invitations_list']['invitations'][number];

/** Pending invitations. */
export function Invitations() {
  const trpc = useTRPC();
  const list = useQuery(trpc.invitations_list.queryOptions({ limit: 200 }));
  if (list.isError) return <FormError error={list.error} />;
  if (!list.data || list.data.invitations.length === 0) return null;
  return (
    <Card flush title="Open invitations" className="mt-6">
      <Table label="Open invitations" cards={['Email', 'Role', 'Invited', 'Expires', '']}>
        <THead>
          <Th>Email</Th>
          <Th>Role</Th>
          <Th>Invited</Th>
          <Th>Expires</Th>
          <Th>
            <span className="sr-only">Actions</span>
          </Th>
        </THead>
        <tbody>
          {list.data.invitations.map(invitation => (
            <Row key={invitation.id} invitation={invitation} />
          ))}
        </tbody>
      </Table>
    </Card>
  );
}

function Row({ invitation }: { invitation: Invitation }) {
  const trpc = useTRPC();
  const queries = useQueryClient();
  const [revoking, setRevoking] = useState(false);
  const revoke = useMutation(
    trpc.invitations_delete.mutationOptions({
      onSuccess: () => {
        setRevoking(false);
        toast.success('Invitation revoked');
        return queries.invalidateQueries(trpc.invitations_list.queryFilter());
      },
    }),
  );
  return (
    <Tr>
      <Td className="font-medium">{invitation.email}</Td>
      <Td className="text-muted">{invitation.tenant_admin ? 'Workspace admin' : roleLabel(invitation.role)}</Td>
      <Td>
        <RelativeTime at={invitation.created_at} />
      </Td>
      <Td>
        <RelativeTime at={invitation.expires_at} />
      </Td>
      <Td className="w-10 text-right">
        <IconButton label={`Revoke the invitation for ${invitation.email}`} size="sm" onClick={() => setRevoking(true)}>
          <Trash2 aria-hidden className="size-3.5" />
        </IconButton>
        <Confirm
          open={revoking}
          onOpenChange={setRevoking}
          title="Revoke this invitation?"
          action="Revoke"
          pending={revoke.isPending}
          error={revoke.error ? readError(revoke.error).message : null}
          onConfirm={() => revoke.mutate({ id: invitation.id })}
        >
          The link that was sent to {invitation.email} stops working.
        </Confirm>
      </Td>
    </Tr>
  );
}
