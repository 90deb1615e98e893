'use client';
import { useQuery } from '@tanstack/react-query';
import { History } from 'lucide-react';
import { useState } from 'react';
import { useTRPC } from '../../trpc/provider.tsx';
import { IconButton } from '../../ui/button.tsx';
import { Menu, MenuChoice, MenuItem, MenuLabel, MenuSeparator } from '../../ui/menu.tsx';
import { statusLook } from '../../ui/status-badge.tsx';
import { RelativeTime } from '../../ui/time.tsx';
import { useUrlState } from '../../ui/use-url-state.ts';

const MAX_RUNS = 10;
const FILTERS = [
  { label: 'All runs', status: undefined },
  { label: 'Failed runs', status: 'failed' },
  { label: 'Completed runs', status: 'completed' },
] as const;

/** Chooses one of the latest runs to show over the draft. */
export function RunChoice({ workflowId }: { workflowId: string }) {
  return (
    <Menu
      align="start"
      trigger={
        <IconButton label="Show a run on the canvas">
          <History aria-hidden className="size-4" />
        </IconButton>
      }
    >
      <LatestRuns workflowId={workflowId} />
    </Menu>
  );
}

function LatestRuns({ workflowId }: { workflowId: string }) {
  const trpc = useTRPC();
  const url = useUrlState();
  const [status, setStatus] = useState<'failed' | 'completed' | undefined>(undefined);
  const runs = useQuery(
    trpc.runs_list_tenant.queryOptions(
      { workflow_id: workflowId, limit: MAX_RUNS, ...(status && { status }) },
      { staleTime: 0 },
    ),
  );
  const list = runs.data?.runs ?? [];
  return (
    <>
      {FILTERS.map(filter => (
        <MenuChoice
          key={filter.label}
          checked={filter.status === status}
          keepsOpen
          onSelect={() => setStatus(filter.status)}
        >
          {filter.label}
        </MenuChoice>
      ))}
      <MenuSeparator />
      {list.length === 0 ? (
        <MenuLabel>{runs.isPending ? 'Loading…' : runs.isError ? 'The runs could not be loaded' : 'No runs'}</MenuLabel>
      ) : null}
      {list.map(run => {
        const { icon: Icon, label } = statusLook('run', run.status);
        return (
          <MenuItem
            key={run.run_id}
            icon={<Icon aria-hidden className="size-3.5 text-muted" />}
            onSelect={() => url.set({ over: run.run_id, panel: 'run' })}
          >
            {label} <span className="text-muted">· {run.test ? 'test' : `v${run.version}`} · </span>
            <RelativeTime at={run.started_at} />
          </MenuItem>
        );
      })}
    </>
  );
}
