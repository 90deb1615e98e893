'use client';
import { useQuery } from '@tanstack/react-query';
import dynamic from 'next/dynamic';
import { isTerminal, type Snapshot } from '@/server/domains/runs/reading/run-state.ts';
import { useHydrated } from '../auth/use-hydrated.ts';
import { useSession } from '../session/session.tsx';
import { useTRPC } from '../trpc/provider.tsx';
import { PageHeader } from '../ui/page.tsx';
import { StatusBadge } from '../ui/status-badge.tsx';
import { formatLocalMinute, formatUtc } from '../ui/time.tsx';
import { shownStatus } from './outcome.ts';
import { RunActions } from './run-actions.tsx';
import type { LiveRun } from './use-run.ts';

const ExtractRun = dynamic(() => import('../memory/extract-run.tsx').then(module => module.ExtractRun), {
  ssr: false,
});

type HeaderProps = {
  snapshot: Snapshot;
  live: LiveRun;
  waits: 'people' | 'time' | null;
  selected: string | null;
  /** Whether an agent is the only step. The run may then belong to a saved agent. */
  hasOnlyAnAgent: boolean;
};

/** The header of a run's page: workflow, start, status and actions. */
export function RunHeader({ snapshot, live: { state }, waits, selected, hasOnlyAnAgent }: HeaderProps) {
  const trpc = useTRPC();
  const id = snapshot.workflow_id;
  const { agents } = useSession().me;
  // The chat's assistant has runs like an agent, but no page.
  const agent = useQuery(
    trpc.agents_get.queryOptions({ id }, { enabled: hasOnlyAnAgent && agents, staleTime: Number.POSITIVE_INFINITY }),
  );
  const ofAgent = agent.data !== undefined;
  const status = state.status ?? snapshot.status;
  return (
    <PageHeader
      parent={ofAgent ? { href: `/agents/${id}`, label: 'Agent' } : { href: `/workflows/${id}`, label: 'Workflow' }}
      title={
        <span className="flex flex-wrap items-center gap-2">
          <span className="min-w-0 truncate">{snapshot.workflow_name}</span>
          <StartTime at={snapshot.started_at} />
          <StatusBadge kind="run" status={shownStatus(status, waits)} />
          {state.stopping && !isTerminal(status) ? (
            <span className="text-sm font-normal text-muted">stopping…</span>
          ) : null}
        </span>
      }
      actions={
        <>
          {isTerminal(status) ? <ExtractRun run={snapshot} failure={state.error ?? null} /> : null}
          <RunActions
            workflowId={snapshot.workflow_id}
            runId={snapshot.run_id}
            status={status}
            stopping={state.stopping}
            selected={selected}
            failedStep={status === 'failed' ? (state.error?.step_id ?? null) : null}
          />
        </>
      }
    />
  );
}

/** The start of the run. Rendered in the browser, because the server does not know the time zone. */
function StartTime({ at }: { at: string }) {
  const hydrated = useHydrated();
  return (
    <time
      dateTime={at}
      title={formatUtc(at)}
      className="text-base font-normal whitespace-nowrap text-muted tabular-nums"
    >
      {hydrated ? formatLocalMinute(at) : `${at.slice(0, 10)} ${at.slice(11, 16)} UTC`}
    </time>
  );
}
