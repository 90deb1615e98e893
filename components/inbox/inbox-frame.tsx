'use client';
import { useParams, usePathname, useRouter, useSearchParams } from 'next/navigation';
import type { ReactNode } from 'react';
import { useHotkeys } from '../shell/use-hotkeys.ts';
import { cx } from '../ui/classes.ts';
import { TaskFilters } from './task-filters.tsx';
import { TaskList } from './task-list.tsx';
import { taskHref, useInbox } from './use-inbox.ts';

/** List on the left, the chosen task beside it; on a phone one or the other. */
export function InboxFrame({ children }: { children: ReactNode }) {
  const router = useRouter();
  const query = useSearchParams().toString();
  const chosen = useChosen();
  const { data } = useInbox();
  const tasks = data?.tasks ?? [];
  const at = tasks.findIndex(task => task.run_id === chosen?.runId && task.task_id === chosen.taskId);
  const move = (by: 1 | -1) => {
    const next = tasks[at === -1 ? 0 : at + by];
    if (next) router.push(taskHref(next, query), { scroll: false });
  };
  useHotkeys({ j: () => move(1), k: () => move(-1) });
  return (
    // All of the height that a notice over the page leaves, and no more.
    <div className="flex flex-1 lg:h-0 lg:flex-auto">
      {/* On a phone the list and its heading make room for the task. */}
      {chosen ? <h1 className="sr-only lg:hidden">Inbox</h1> : null}
      <section
        aria-label="Waiting tasks"
        className={cx('w-full flex-col lg:flex lg:w-90 lg:shrink-0 lg:border-r', chosen ? 'hidden' : 'flex')}
      >
        <div className="flex flex-col gap-3 border-b px-4 py-4">
          <h1 className="text-xl font-semibold tracking-tight">Inbox</h1>
          <TaskFilters />
        </div>
        <TaskList chosen={chosen} />
      </section>
      <section aria-label="Task" className={cx('min-w-0 flex-1 overflow-y-auto', chosen ? 'block' : 'hidden lg:block')}>
        {children}
      </section>
    </div>
  );
}

export type Chosen = { runId: string; taskId: string };

/** The task that the path names. */
export function useChosen(): Chosen | null {
  const params = useParams<{ runId?: string; taskId?: string }>();
  const pathname = usePathname();
  if (!pathname.startsWith('/inbox/') || !params.runId || !params.taskId) return null;
  return { runId: params.runId, taskId: decodeURIComponent(params.taskId) };
}
