'use client';
import Link from 'next/link';
import { useParams, usePathname, useRouter, useSearchParams } from 'next/navigation';
import { type ReactNode, useState } from 'react';
import { useHotkeys } from '../shell/use-hotkeys.ts';
import { cx } from '../ui/classes.ts';
import { AnsweredList } from './answered-list.tsx';
import { TaskFilters } from './task-filters.tsx';
import { TaskList } from './task-list.tsx';
import { taskHref, useInbox, useInboxFilter } from './use-inbox.ts';

/** List on the left, the chosen task beside it; on a phone one or the other. */
export function InboxFrame({ children }: { children: ReactNode }) {
  const router = useRouter();
  const query = useSearchParams().toString();
  const chosen = useChosen();
  const { data } = useInbox();
  const { view } = useInboxFilter();
  const [selected, setSelected] = useState<ReadonlySet<string>>(new Set());
  const tasks = view === 'waiting' ? (data?.tasks ?? []) : [];
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
        aria-label={view === 'waiting' ? 'Waiting tasks' : 'Answered tasks'}
        className={cx('w-full flex-col lg:flex lg:w-90 lg:shrink-0 lg:border-r', chosen ? 'hidden' : 'flex')}
      >
        <div className="flex flex-col gap-3 border-b px-4 py-4">
          <div className="flex items-center justify-between gap-2">
            <h1 className="text-xl font-semibold tracking-tight">Inbox</h1>
            <ViewLinks />
          </div>
          <TaskFilters />
        </div>
        {view === 'waiting' ? (
          <TaskList chosen={chosen} selected={selected} onSelect={setSelected} />
        ) : (
          <AnsweredList chosen={chosen} />
        )}
      </section>
      <section aria-label="Task" className={cx('min-w-0 flex-1 overflow-y-auto', chosen ? 'block' : 'hidden lg:block')}>
        {children}
      </section>
    </div>
  );
}

/** The two lists, each with the filters that both have. */
function ViewLinks() {
  const params = useSearchParams();
  const { view } = useInboxFilter();
  const href = (target: typeof view) => {
    const next = new URLSearchParams(params);
    next.delete('view');
    if (target === 'answered') next.set('view', target);
    const query = next.toString();
    return query ? `/inbox?${query}` : '/inbox';
  };
  return (
    <nav aria-label="Lists of tasks" className="flex gap-1 text-sm">
      {(['waiting', 'answered'] as const).map(target => (
        <Link
          key={target}
          href={href(target)}
          aria-current={view === target ? 'page' : undefined}
          className={cx(
            'rounded-md px-2 py-1',
            view === target ? 'bg-active font-medium text-text' : 'text-muted hover:bg-hover hover:text-text',
          )}
        >
          {target === 'waiting' ? 'Waiting' : 'Answered'}
        </Link>
      ))}
    </nav>
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
