'use client';
import { useMutation } from '@tanstack/react-query';
import { useTRPC } from '../trpc/provider.tsx';
import { toast } from '../ui/toaster.tsx';
import type { Connection } from './connection-status.tsx';
import { DeleteUsed, type Usage } from './delete-used.tsx';
import { useRefreshConnections } from './use-refresh-connections.ts';

/** Deletes a connection. If it is in use, first says that its users may fail. */
export function DeleteConnection({ connection, onClose }: { connection: Connection; onClose: () => void }) {
  const trpc = useTRPC();
  const refresh = useRefreshConnections();
  const remove = useMutation(
    trpc.connections_delete.mutationOptions({
      onSuccess: () => {
        onClose();
        toast.success(`${connection.name} is deleted`);
        return refresh();
      },
    }),
  );
  return (
    <DeleteUsed
      id={connection.id}
      name={connection.name}
      note="This permanently deletes its secrets."
      hint="Everything that uses it loses its connection and fails until you choose another one."
      usersOf={usersOf}
      remove={remove}
      onClose={onClose}
    />
  );
}

function usersOf(usage: Usage) {
  return {
    heading: usage.total === 1 ? 'It is in use:' : `It is used in ${usage.total} places:`,
    users: [
      ...usage.instances.map(each => ({ id: each.id, text: `MCP instance “${each.name}”` })),
      ...usage.profiles.map(each => ({ id: each.id, text: `Profile “${each.name}” of “${each.instance_name}”` })),
      ...usage.workflows.map(each => ({ id: each.id, text: `Workflow “${each.name}”` })),
    ],
  };
}
