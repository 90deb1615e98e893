'use client';
import { useQueries, useQuery } from '@tanstack/react-query';
import { ArrowLeft } from 'lucide-react';
import { useSearchParams } from 'next/navigation';
import { useSession } from '../session/session.tsx';
import { inScope, type Outputs, useTRPC } from '../trpc/provider.tsx';
import { Link } from '../ui/link.tsx';
import { Skeleton } from '../ui/skeleton.tsx';
import { ErrorState } from '../ui/states.tsx';
import { Answered } from './answered.tsx';
import { TaskDetail } from './task-detail.tsx';
import { useInbox } from './use-inbox.ts';

export type RunTask = Outputs['tasks_list_run']['tasks'][number];

/**
 * One task by run and step id, opened from the list or from a link. The workflow and project come from the inbox if the task is pending,
 * otherwise from the run feed, so that a link to an answered task still shows who answered.
 */
export function TaskView({ runId, taskId }: { runId: string; taskId: string }) {
  const trpc = useTRPC();
  const { scope } = useSession();
  const query = useSearchParams().toString();
  const inbox = useInbox();
  const listed = inbox.data?.tasks.find(task => task.run_id === runId && task.task_id === taskId);
  const run = useRun(runId);
  const owner = listed ?? run.found;
  const project = owner ? { tenant: scope.tenant, project: owner.project_id } : scope;
  const tasks = useQuery(
    trpc.tasks_list_run.queryOptions(
      { id: owner?.workflow_id ?? '', runID: runId, task_id: taskId },
      { enabled: owner !== undefined, refetchInterval: 3_000, trpc: { context: inScope(project) } },
    ),
  );
  const task = tasks.data?.tasks.find(each => each.task_id === taskId);
  const missing = (run.isMissing && !owner) || (tasks.isSuccess && !task);
  const failed = missing
    ? new Error('This task does not exist, or you do not have access to it.')
    : (tasks.error ?? run.error);
  return (
    <div className="mx-auto flex max-w-200 flex-col px-4 py-4 sm:px-6">
      <Link
        href={query ? `/inbox?${query}` : '/inbox'}
        className="mb-3 inline-flex items-center gap-1 self-start text-sm text-muted hover:text-text lg:hidden"
      >
        <ArrowLeft aria-hidden className="size-3.5" />
        Inbox
      </Link>
      {task ? (
        task.state === 'pending' ? (
          <TaskDetail key={`${runId}:${taskId}`} task={task} />
        ) : (
          <Answered task={task} />
        )
      ) : failed ? (
        <ErrorState
          error={failed}
          title={missing ? 'Not found' : undefined}
          onRetry={() => void Promise.all([run.refetch(), tasks.refetch()])}
        />
      ) : (
        <Placeholder />
      )}
    </div>
  );
}

/** The kinds of runs that may also ask people, but are listed only on request. */
const OTHER_KINDS = ['agent', 'autopilot', 'trial'] as const;

function useRun(runId: string) {
  const trpc = useTRPC();
  const given = { q: runId, limit: 1 };
  // The workflow of a run never changes.
  const options = { staleTime: Number.POSITIVE_INFINITY };
  const ordinary = useQuery(trpc.runs_list_tenant.queryOptions(given, options));
  const enabled = ordinary.data?.runs.length === 0;
  const others = useQueries({
    queries: OTHER_KINDS.map(kind => trpc.runs_list_tenant.queryOptions({ ...given, kind }, { ...options, enabled })),
  });
  const all = [ordinary, ...others];
  const found = all.flatMap(({ data }) => data?.runs ?? []).find(({ run_id }) => run_id === runId);
  return {
    found,
    isMissing: found === undefined && all.every(({ isSuccess }) => isSuccess),
    error: all.find(({ error }) => error !== null)?.error ?? null,
    refetch: () => Promise.all(all.filter(({ isError }) => isError).map(({ refetch }) => refetch())),
  };
}

function Placeholder() {
  return (
    <div aria-hidden className="flex flex-col gap-4">
      <Skeleton className="h-6 w-60" />
      <Skeleton className="h-3.5 w-40" />
      <Skeleton className="h-24 w-full" />
      <Skeleton className="h-8 w-48" />
    </div>
  );
}
