'use client';
import { useMutation, useQuery } from '@tanstack/react-query';
import { Blocks } from 'lucide-react';
import { useTRPC } from '../trpc/provider.tsx';
import { Button } from '../ui/button.tsx';
import { Dialog } from '../ui/dialog.tsx';
import { Skeleton } from '../ui/skeleton.tsx';
import { EmptyState, ErrorState, FormError } from '../ui/states.tsx';
import { Switch } from '../ui/switch.tsx';
import type { Connection } from './connection-status.tsx';
import { useBeginFlow } from './use-begin-flow.ts';
import { useRefreshConnections } from './use-refresh-connections.ts';

/** The account of a suite connection, and its services, each of which is on, off, or not yet granted. */
export function SuiteAccountDialog({ connection, onClose }: { connection: Connection; onClose: () => void }) {
  const trpc = useTRPC();
  const refresh = useRefreshConnections();
  const { suite } = useBeginFlow();
  const account = useQuery(trpc.connections_suite_account.queryOptions({ connectionId: connection.id }));
  const patch = useMutation(trpc.connections_suite_services_patch.mutationOptions({ onSuccess: refresh }));
  const on = account.data?.services.filter(each => each.enabled).map(each => each.name) ?? [];
  return (
    <Dialog
      open
      onOpenChange={open => !open && onClose()}
      title={`Services of ${connection.name}`}
      description={text(account.data?.account.email) || text(connection.account?.email)}
      footer={
        <Button variant="primary" onClick={onClose}>
          Done
        </Button>
      }
    >
      <FormError error={patch.error} />
      {account.isError ? <ErrorState error={account.error} onRetry={() => void account.refetch()} /> : null}
      {account.isPending ? <Skeleton className="h-24 w-full" /> : null}
      {account.data?.services.length === 0 ? (
        <EmptyState icon={Blocks} title="No services">
          This deployment has no services that you can turn on or off.
        </EmptyState>
      ) : null}
      <ul className="divide-y">
        {account.data?.services.map(service => (
          <li key={service.name} className="flex items-center justify-between gap-4 py-2.5">
            <div className="min-w-0">
              <p className="text-sm font-medium">{service.name}</p>
              <p className="truncate font-mono text-xs text-muted">{service.scopes.join(' ')}</p>
            </div>
            {service.granted ? (
              <Switch
                label={service.name}
                checked={service.enabled}
                disabled={patch.isPending}
                onCheckedChange={checked =>
                  patch.mutate({ connectionId: connection.id, services: { [service.name]: checked } })
                }
              />
            ) : (
              <Button
                size="sm"
                pending={suite.isPending}
                onClick={() => suite.mutate({ connection_id: connection.id, services: [...on, service.name] })}
              >
                Request access
              </Button>
            )}
          </li>
        ))}
      </ul>
    </Dialog>
  );
}

const text = (value: unknown) => (typeof value === 'string' ? value : '');
