'use client';
import { keepPreviousData, useQuery } from '@tanstack/react-query';
import { useSearchParams } from 'next/navigation';
import { useSession } from '../shell/session.tsx';
import { type Outputs, useTRPC } from '../trpc/provider.tsx';

export type Task = Outputs['tasks_list_pending']['tasks'][number];

const UUID = /^[0-9a-f]{8}-(?:[0-9a-f]{4}-){3}[0-9a-f]{12}$/;

/** The pending tasks, filtered by the URL: `workflow_id`, and `assignee=me` for tasks that name the user. */
export function useInbox() {
  const trpc = useTRPC();
  const { me } = useSession();
  const params = useSearchParams();
  const workflow = params.get('workflow_id') ?? '';
  const mine = params.get('assignee') === 'me';
  const input = {
    limit: 200,
    ...(UUID.test(workflow) ? { workflow_id: workflow } : {}),
    ...(mine ? { assignee: me.user.email } : {}),
  };
  return useQuery(
    trpc.tasks_list_pending.queryOptions(input, { refetchInterval: 3_000, placeholderData: keepPreviousData }),
  );
}

export function taskHref(task: Pick<Task, 'run_id' | 'task_id'>, query: string): string {
  const path = `/inbox/${task.run_id}/${encodeURIComponent(task.task_id)}`;
  return query ? `${path}?${query}` : path;
}
