'use client';
import { useMutation } from '@tanstack/react-query';
import { CheckCheck } from 'lucide-react';
import type { Json } from '@/server/platform/json.ts';
import { type Outputs, useTRPC, useTRPCClient } from '../trpc/provider.tsx';
import { Badge } from '../ui/badge.tsx';
import { Button } from '../ui/button.tsx';
import { JsonTree } from '../ui/json-tree.tsx';
import { ReadOn } from '../ui/pager.tsx';
import { Skeleton } from '../ui/skeleton.tsx';
import { EmptyState, ErrorState } from '../ui/states.tsx';
import { RelativeTime } from '../ui/time.tsx';
import { toast, toastError } from '../ui/toaster.tsx';
import { useCursorPages } from '../ui/use-cursor-pages.ts';

export type Grant = Outputs['agents_list_grants']['grants'][number];

/** Lists an agent's grants: the calls that people have allowed it to make without asking. */
export function AgentGrants({ agentId, canRevoke }: { agentId: string; canRevoke: boolean }) {
  const trpc = useTRPC();
  const client = useTRPCClient();
  const list = useCursorPages([...trpc.agents_list_grants.pathKey(), agentId], from =>
    client.agents_list_grants.query({ id: agentId, limit: 20, ...from }),
  );
  const revoke = useMutation(
    trpc.agents_revoke_grant.mutationOptions({
      onSuccess: () => {
        toast.success('Revoked. The agent asks again from now on.');
        return list.refetch();
      },
      onError: toastError,
    }),
  );
  if (list.isPending) return <Skeleton className="h-40 w-full" />;
  if (list.isError) return <ErrorState error={list.error} onRetry={() => void list.refetch()} />;
  const grants = list.data.pages.flatMap(page => page.grants);
  if (grants.length === 0)
    return (
      <EmptyState icon={CheckCheck} title="No calls allowed in advance">
        When you approve a call, you can allow further calls of that tool. They are then listed here.
      </EmptyState>
    );
  return (
    <div className="rounded-lg border bg-surface shadow-sm">
      <GrantRows
        grants={grants}
        pending={revoke.isPending ? revoke.variables.grant_id : null}
        onRevoke={canRevoke ? grant => revoke.mutate({ id: agentId, grant_id: grant.id }) : null}
      />
      <ReadOn list={list}>Show older</ReadOn>
    </div>
  );
}

type Rows = { grants: readonly Grant[]; pending: string | null; onRevoke: ((grant: Grant) => void) | null };

/** Lists grants, each with the person who gave it. */
export function GrantRows({ grants, pending, onRevoke }: Rows) {
  return (
    <ul aria-label="Allowed calls">
      {grants.map(grant => (
        <li key={grant.id} className="flex flex-wrap items-start gap-x-4 gap-y-2 border-b p-3 last:border-b-0">
          <div className="min-w-0 flex-1 basis-60">
            <p className="flex flex-wrap items-center gap-2 text-sm">
              <code className="text-xs wrap-anywhere">{grant.tool}</code>
              <span className="text-muted wrap-anywhere">of {grant.instance ?? 'a deleted instance'}</span>
              {grant.in_force ? null : <Badge tone="warn">Inactive</Badge>}
            </p>
            <p className="mt-1 text-xs wrap-anywhere text-muted">
              {grant.granted_by} · <RelativeTime at={grant.created_at} />
              {grant.expires_at === null ? null : (
                <>
                  {' '}
                  · until <RelativeTime at={grant.expires_at} />
                </>
              )}
            </p>
            {grant.arguments === null ? null : (
              <JsonTree label="Required arguments" value={grant.arguments as Json} className="mt-2 max-h-40" />
            )}
          </div>
          {onRevoke === null ? null : (
            <Button size="sm" pending={pending === grant.id} onClick={() => onRevoke(grant)}>
              Revoke
            </Button>
          )}
        </li>
      ))}
    </ul>
  );
}
