'use client';
import { useMutation, useQuery } from '@tanstack/react-query';
import { CircleCheck, ExternalLink } from 'lucide-react';
import { useRouter } from 'next/navigation';
import { type Outputs, useTRPC } from '../trpc/provider.tsx';
import { Button, ButtonLink } from '../ui/button.tsx';
import { Dialog } from '../ui/dialog.tsx';
import { Skeleton } from '../ui/skeleton.tsx';
import { ErrorState, FormError } from '../ui/states.tsx';
import { authModeLabel } from './auth-modes.ts';
import { useRefreshMcp } from './use-refresh-mcp.ts';

type Adapter = Outputs['mcp_platform_catalog']['adapters'][number];

/** Lists servers that can be added with one click. */
export function CatalogDialog({ onClose }: { onClose: () => void }) {
  const trpc = useTRPC();
  const router = useRouter();
  const refresh = useRefreshMcp();
  const catalog = useQuery(trpc.mcp_platform_catalog.queryOptions());
  const create = useMutation(
    trpc.mcp_servers_create.mutationOptions({
      onSuccess: server => {
        void refresh();
        router.push(`/mcp-servers/${server.id}`);
      },
    }),
  );
  const add = ({ name, canonical_url, auth_mode }: Adapter) =>
    create.mutate({ name, canonical_url, auth_mode, mode: 'platform' });
  const adding = create.isPending ? create.variables.canonical_url : null;
  return (
    <Dialog
      open
      onOpenChange={open => !open && onClose()}
      size="lg"
      title="Catalog"
      description="Public servers run by their owners. Adding one registers its address. Nothing is called yet."
    >
      <div className="flex flex-col gap-3">
        <FormError error={create.error} />
        {catalog.isError ? (
          <ErrorState error={catalog.error} onRetry={() => void catalog.refetch()} />
        ) : catalog.data ? (
          <ul className="flex flex-col divide-y rounded-lg border">
            {catalog.data.adapters.map(adapter => (
              <Entry
                key={adapter.key}
                adapter={adapter}
                pending={adding === adapter.canonical_url}
                disabled={create.isPending}
                onAdd={() => add(adapter)}
              />
            ))}
          </ul>
        ) : (
          <Skeleton className="h-80 w-full" />
        )}
      </div>
    </Dialog>
  );
}

function Entry({
  adapter,
  pending,
  disabled,
  onAdd,
}: {
  adapter: Adapter;
  pending: boolean;
  disabled: boolean;
  onAdd: () => void;
}) {
  return (
    <li className="flex flex-wrap items-center gap-x-4 gap-y-2 px-4 py-3">
      <div className="min-w-0 flex-1 basis-64">
        <p className="font-medium">{adapter.name}</p>
        <p className="text-sm text-muted">{adapter.description}</p>
        <p className="mt-1 flex flex-wrap items-center gap-x-3 text-xs text-muted">
          <code className="break-all">{adapter.canonical_url}</code>
          <span>Sign-in: {authModeLabel(adapter.auth_mode)}</span>
          {adapter.documentation_url ? (
            <a
              href={adapter.documentation_url}
              target="_blank"
              rel="noopener noreferrer"
              className="inline-flex items-center gap-1 underline hover:text-text"
            >
              Documentation of {adapter.name} <ExternalLink aria-hidden className="size-3" />
            </a>
          ) : null}
        </p>
      </div>
      {adapter.server_id ? (
        <ButtonLink
          href={`/mcp-servers/${adapter.server_id}`}
          size="sm"
          icon={<CircleCheck aria-hidden className="size-3.5 text-ok" />}
          aria-label={`Open ${adapter.name}, which is registered`}
        >
          Registered
        </ButtonLink>
      ) : (
        <Button size="sm" pending={pending} disabled={disabled} aria-label={`Add ${adapter.name}`} onClick={onAdd}>
          Add
        </Button>
      )}
    </li>
  );
}
