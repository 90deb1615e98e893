'use client';
import { useMutation, useQuery, useQueryClient } from '@tanstack/react-query';
import { GrantRows } from '../agents/grant-list.tsx';
import { usePermissions, useSession } from '../session/session.tsx';
import { useTRPC } from '../trpc/provider.tsx';
import { toast, toastError } from '../ui/toaster.tsx';
import type { Thread } from './use-thread.ts';

/** The maximum number of shown grants. */
const MAX_SHOWN = 100;

/** Lists the grants of a conversation; renders nothing if there are none. */
export function ThreadGrants({ thread }: { thread: Thread }) {
  const trpc = useTRPC();
  const queries = useQueryClient();
  const { canWrite } = usePermissions();
  const { me } = useSession();
  const { id, agent_id, owner_id } = thread;
  const list = useQuery(trpc.chat_list_grants.queryOptions({ id, limit: MAX_SHOWN }, { enabled: agent_id !== null }));
  const revoke = useMutation(
    trpc.chat_revoke_grant.mutationOptions({
      onSuccess: () => {
        toast.success('Revoked. Similar calls ask again.');
        return queries.invalidateQueries(trpc.chat_list_grants.queryFilter());
      },
      onError: toastError,
    }),
  );
  const grants = list.data?.grants ?? [];
  if (grants.length === 0) return null;
  const mayRevoke = canWrite || owner_id === me.user.id;
  return (
    <details className="mx-auto w-full max-w-180 px-4">
      <summary className="cursor-default py-1 text-xs text-muted">
        {grants.length === 1 ? 'One tool is' : `${grants.length} tools are`} used here without asking
      </summary>
      <div className="max-h-60 overflow-y-auto rounded-md border">
        <GrantRows
          grants={grants}
          pending={revoke.isPending ? revoke.variables.grant_id : null}
          onRevoke={mayRevoke ? grant => revoke.mutate({ id, grant_id: grant.id }) : null}
        />
      </div>
    </details>
  );
}
