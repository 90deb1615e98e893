'use client';
import { useQuery } from '@tanstack/react-query';
import { useState } from 'react';
import { type Outputs, useTRPC } from '../trpc/provider.tsx';
import { Checkbox } from '../ui/checkbox.tsx';
import { Confirm } from '../ui/confirm.tsx';
import { readError } from '../ui/errors.ts';
import { Skeleton } from '../ui/skeleton.tsx';

export type Usage = Outputs['connections_usage'];

/**
 * Deletes a resource that holds credentials. If the resource is in use, first lists its users and warns that they may
 * fail.
 */
export function DeleteUsed({
  id,
  name,
  note,
  hint,
  usersOf,
  remove,
  onClose,
}: {
  id: string;
  name: string;
  /** The consequences of the deletion, whether it is in use or not. */
  note: string;
  /** The consequences for its users. */
  hint: string;
  usersOf: (usage: Usage) => { heading: string; users: readonly { id: string; text: string }[] };
  remove: { isPending: boolean; error: unknown; mutate: (input: { id: string; force: boolean }) => void };
  onClose: () => void;
}) {
  const trpc = useTRPC();
  const [forced, setForced] = useState(false);
  const usage = useQuery(trpc.connections_usage.queryOptions({ id }, { staleTime: 0 }));
  const used = (usage.data?.total ?? 0) > 0;
  const error = remove.error ?? usage.error;
  return (
    <Confirm
      open
      onOpenChange={open => !open && onClose()}
      title={`Delete ${name}?`}
      action="Delete"
      pending={remove.isPending || usage.isPending}
      error={error ? readError(error).message : null}
      onConfirm={() => remove.mutate({ id, force: used && forced })}
    >
      <p>{note}</p>
      {usage.isPending ? <Skeleton className="mt-2 h-4 w-48" /> : null}
      {usage.data && used ? (
        <div className="mt-3 flex flex-col gap-3 text-text">
          <UsedBy {...usersOf(usage.data)} elsewhere={usage.data.elsewhere} />
          <Checkbox label="Delete it anyway" hint={hint} checked={forced} onCheckedChange={setForced} />
        </div>
      ) : null}
    </Confirm>
  );
}

function UsedBy({
  heading,
  users,
  elsewhere,
}: {
  heading: string;
  users: readonly { id: string; text: string }[];
  elsewhere: number;
}) {
  return (
    <div className="text-sm">
      <p className="font-medium">{heading}</p>
      <ul className="mt-1 max-h-40 list-disc overflow-y-auto pl-4 text-muted">
        {users.map(user => (
          <li key={user.id}>{user.text}</li>
        ))}
        {elsewhere > 0 ? <li>{elsewhere} in other projects</li> : null}
      </ul>
    </div>
  );
}
