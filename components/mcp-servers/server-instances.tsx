'use client';
import { useQuery } from '@tanstack/react-query';
import { Boxes } from 'lucide-react';
import { useTRPC } from '../trpc/provider.tsx';
import { ButtonLink } from '../ui/button.tsx';
import { ListCard } from '../ui/list-card.tsx';
import { EmptyState } from '../ui/states.tsx';
import { useUrlState } from '../ui/use-url-state.ts';
import type { ServerDetail } from './auth-modes.ts';
import { InstanceRow, instanceColumns } from './instance-list.tsx';

/** This project's instances of one server. */
export function ServerInstances({ server }: { server: ServerDetail }) {
  const trpc = useTRPC();
  const cursor = useUrlState().get('cursor');
  const list = useQuery(
    trpc.mcp_instances_list.queryOptions({ limit: 50, server_id: server.id, ...(cursor ? { cursor } : {}) }),
  );
  const create = (
    <ButtonLink variant="primary" href={`/mcp-servers?view=instances&open=instance&server=${server.id}`}>
      Create instance
    </ButtonLink>
  );
  return (
    <ListCard
      label="Instances of this server"
      columns={instanceColumns}
      query={list}
      items={list.data?.instances}
      next={list.data?.next_cursor}
      row={instance => <InstanceRow key={instance.id} instance={instance} />}
      skeletonRows={2}
      empty={
        <EmptyState
          icon={Boxes}
          title="No instance in this project"
          action={server.latest_version === null ? null : create}
        >
          {server.latest_version === null
            ? 'Publish a version first: an instance calls a published version.'
            : 'An instance binds the server to a connection. Steps call its tools through it.'}
        </EmptyState>
      }
    />
  );
}
