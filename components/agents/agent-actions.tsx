'use client';
import { useMutation, useQueryClient } from '@tanstack/react-query';
import { Archive, CirclePause, CirclePlay, Ellipsis, Waypoints } from 'lucide-react';
import { useRouter } from 'next/navigation';
import { useState } from 'react';
import { usePermissions } from '../session/session.tsx';
import { useTRPC } from '../trpc/provider.tsx';
import { IconButton } from '../ui/button.tsx';
import { Confirm } from '../ui/confirm.tsx';
import { readError } from '../ui/errors.ts';
import { Menu, MenuItem, MenuSeparator } from '../ui/menu.tsx';
import { toast, toastError } from '../ui/toaster.tsx';
import type { Agent } from './agent-draft.ts';

/** The menu with actions on an agent. */
export function AgentActions({ agent }: { agent: Agent }) {
  const trpc = useTRPC();
  const router = useRouter();
  const queries = useQueryClient();
  const { canWrite } = usePermissions();
  const [archiving, setArchiving] = useState(false);
  const turn = useMutation(
    trpc.agents_patch.mutationOptions({
      onSuccess: saved => {
        queries.setQueryData(trpc.agents_get.queryKey({ id: saved.id }), saved);
        toast.success(
          saved.status === 'disabled' ? 'The agent is disabled and starts no new runs' : 'The agent is active',
        );
        return queries.invalidateQueries(trpc.agents_list.queryFilter());
      },
      onError: toastError,
    }),
  );
  const isDisabled = agent.status === 'disabled';
  const Icon = isDisabled ? CirclePlay : CirclePause;
  const mayChange = canWrite && agent.status !== 'archived';
  return (
    <>
      <Menu
        trigger={
          <IconButton label={`Actions for ${agent.name}`} size="sm" tooltip={false}>
            <Ellipsis aria-hidden className="size-4" />
          </IconButton>
        }
      >
        <MenuItem
          icon={<Waypoints aria-hidden className="size-3.5" />}
          onSelect={() => router.push(`/runs?workflow_id=${agent.id}`)}
        >
          Show runs
        </MenuItem>
        {mayChange ? (
          <>
            <MenuItem
              icon={<Icon aria-hidden className="size-3.5" />}
              onSelect={() => turn.mutate({ id: agent.id, status: isDisabled ? 'active' : 'disabled' })}
            >
              {isDisabled ? 'Activate' : 'Disable'}
            </MenuItem>
            <MenuSeparator />
            <MenuItem danger icon={<Archive aria-hidden className="size-3.5" />} onSelect={() => setArchiving(true)}>
              Archive
            </MenuItem>
          </>
        ) : null}
      </Menu>
      <ArchiveConfirm agent={agent} open={archiving} onClose={() => setArchiving(false)} />
    </>
  );
}

function ArchiveConfirm({ agent, open, onClose }: { agent: Agent; open: boolean; onClose: () => void }) {
  const trpc = useTRPC();
  const router = useRouter();
  const queries = useQueryClient();
  const archive = useMutation(
    trpc.agents_archive.mutationOptions({
      onSuccess: () => {
        onClose();
        toast.success(`${agent.name} is archived`);
        router.push('/agents');
        return queries.invalidateQueries(trpc.agents_list.queryFilter());
      },
    }),
  );
  const problem = archive.error ? readError(archive.error) : null;
  const isUsed = problem?.code === 'agent_in_use';
  return (
    <Confirm
      open={open}
      onOpenChange={next => !next && onClose()}
      title={`Archive ${agent.name}?`}
      action={isUsed ? 'Archive anyway' : 'Archive'}
      pending={archive.isPending}
      error={problem && !isUsed ? problem.message : null}
      onConfirm={() => archive.mutate({ id: agent.id, ...(isUsed && { force: true }) })}
    >
      {isUsed ? (
        <>
          <p>Workflows use it. Their steps will fail:</p>
          <ul className="mt-1 list-disc pl-5">
            {problem.details.map(({ path, message }) => (
              <li key={path}>{message}</li>
            ))}
          </ul>
        </>
      ) : (
        'It can no longer be edited or run. You can still view its versions and runs. Active runs continue.'
      )}
    </Confirm>
  );
}
