'use client';
import { keepPreviousData, useQuery } from '@tanstack/react-query';
import { useSearchParams } from 'next/navigation';
import { type FirstRead, useFirstRead } from '../session/first-read.ts';
import { useSession } from '../session/session.tsx';
import { type Outputs, useTRPC, useTRPCClient } from '../trpc/provider.tsx';
import { useCursorPages } from '../ui/use-cursor-pages.ts';
import { type InboxFilter, pendingTasksInput, readFilter } from './inbox-filter.ts';

export type Task = Outputs['tasks_list_pending']['tasks'][number];
export type AnsweredTask = Outputs['tasks_list_answered']['tasks'][number];

/** Returns the filter of the inbox from the URL. */
export function useInboxFilter(): InboxFilter {
  return readFilter(useSearchParams());
}

/** Reads the pending tasks, filtered by the URL. `first`: the answer that the server has already read. */
export function useInbox(first?: FirstRead<'tasks_list_pending'> | null) {
  const trpc = useTRPC();
  const { me } = useSession();
  const input = pendingTasksInput(useInboxFilter(), me.user.email);
  return useQuery(
    trpc.tasks_list_pending.queryOptions(input, {
      refetchInterval: 3_000,
      placeholderData: keepPreviousData,
      ...useFirstRead(first, input),
    }),
  );
}

/** Reads the requested pages of answered tasks, filtered by the URL. */
export function useAnswered() {
  const trpc = useTRPC();
  const client = useTRPCClient();
  const { me } = useSession();
  const { workflow, project, q, mine } = useInboxFilter();
  const input = {
    limit: 50,
    ...(workflow ? { workflow_id: workflow } : {}),
    ...(project ? { project_id: project } : {}),
    ...(q ? { q } : {}),
    ...(mine ? { completed_by: me.user.email } : {}),
  };
  return useCursorPages([...trpc.tasks_list_answered.pathKey(), input], from =>
    client.tasks_list_answered.query({ ...input, ...from }),
  );
}

type TaskRef = Pick<Task, 'run_id' | 'task_id'>;

/** Returns a key that is unique among all tasks of a tenant. */
export const taskKey = ({ run_id, task_id }: TaskRef): string => `${run_id}:${task_id}`;

export function taskHref(task: TaskRef, query: string): string {
  const path = `/inbox/${task.run_id}/${encodeURIComponent(task.task_id)}`;
  return query ? `${path}?${query}` : path;
}
