'use client';
import { useMutation, useQuery } from '@tanstack/react-query';
import { useState } from 'react';
import { readError } from '../trpc/errors.ts';
import { type Outputs, useTRPC } from '../trpc/provider.tsx';
import { Confirm } from '../ui/confirm.tsx';
import { Checkbox } from '../ui/field.tsx';
import { Skeleton } from '../ui/skeleton.tsx';
import { toast } from '../ui/toaster.tsx';
import type { Connection } from './connection-status.tsx';
import { useRefreshConnections } from './use-refresh-connections.ts';

type Usage = Outputs['connections_usage'];

/** Deletes a connection; one that is in use only after saying that what uses it may be left without. */
export function DeleteConnection({ connection, onClose }: { connection: Connection; onClose: () => void }) {
  const trpc = useTRPC();
  const refresh = useRefreshConnections();
  const [forced, setForced] = useState(false);
  const usage = useQuery(trpc.connections_usage.queryOptions({ id: connection.id }, { staleTime: 0 }));
  const remove = useMutation(
    trpc.connections_delete.mutationOptions({
      onSuccess: () => {
        onClose();
        toast.success(`${connection.name} is deleted`);
        return refresh();
      },
    }),
  );
  const used = (usage.data?.total ?? 0) > 0;
  const error = remove.error ?? usage.error;
  return (
    <Confirm
      open
      onOpenChange={open => !open && onClose()}
      title={`Delete ${connection.name}?`}
      action="Delete"
      pending={remove.isPending || usage.isPending}
      error={error ? readError(error).message : null}
      onConfirm={() => remove.mutate({ id: connection.id, force: used && forced })}
    >
      <p>Its secrets are gone for good.</p>
      {usage.isPending ? <Skeleton className="mt-2 h-4 w-48" /> : null}
      {usage.data && used ? (
        <div className="mt-3 flex flex-col gap-3 text-text">
          <UsedBy usage={usage.data} />
          <Checkbox
            label="Delete it all the same"
            hint="Whatever uses it is left without a connection and fails until it gets another."
            checked={forced}
            onCheckedChange={setForced}
          />
        </div>
      ) : null}
    </Confirm>
  );
}

function UsedBy({ usage }: { usage: Usage }) {
  const lines = [
    ...usage.instances.map(each => ({ id: each.id, text: `MCP instance “${each.name}”` })),
    ...usage.profiles.map(each => ({ id: each.id, text: `Profile “${each.name}” of “${each.instance_name}”` })),
    ...usage.workflows.map(each => ({ id: each.id, text: `Workflow “${each.name}”` })),
  ];
  return (
    <div className="text-sm">
      <p className="font-medium">{usage.total === 1 ? 'It is in use:' : `It is used in ${usage.total} places:`}</p>
      <ul className="mt-1 max-h-40 list-disc overflow-y-auto pl-4 text-muted">
        {lines.map(line => (
          <li key={line.id}>{line.text}</li>
        ))}
        {usage.elsewhere > 0 ? <li>{usage.elsewhere} in other projects</li> : null}
      </ul>
    </div>
  );
}
