'use client';
import { useParams, usePathname, useRouter, useSearchParams } from 'next/navigation';
import { type ReactNode, useEffect, useRef, useState } from 'react';
import type { FirstRead } from '../session/first-read.ts';
import { cx } from '../ui/classes.ts';
import { Link } from '../ui/link.tsx';
import { useHotkeys } from '../ui/use-hotkeys.ts';
import { AnsweredList } from './answered-list.tsx';
import { AskedDecision } from './asked-decision.tsx';
import { TaskFilters } from './task-filters.tsx';
import { TaskList } from './task-list.tsx';
import { taskHref, taskKey, useInbox, useInboxFilter } from './use-inbox.ts';

/** The list with the chosen task beside it; a phone shows one of the two. */
export function InboxFrame({
  first,
  children,
}: {
  first: FirstRead<'tasks_list_pending'> | null;
  children: ReactNode;
}) {
  const router = useRouter();
  const query = useSearchParams().toString();
  const chosen = useChosen();
  const { data } = useInbox(first);
  const { view } = useInboxFilter();
  const [selected, setSelected] = useState<ReadonlySet<string>>(new Set());
  const tasks = view === 'waiting' ? (data?.tasks ?? []) : [];
  const chosenKey = chosen && taskKey({ run_id: chosen.runId, task_id: chosen.taskId });
  const keyTarget = useKeyTarget(chosenKey);
  const move = (by: 1 | -1) => {
    const at = tasks.findIndex(task => taskKey(task) === keyTarget.target());
    const next = tasks[at === -1 ? 0 : at + by];
    if (!next) return;
    keyTarget.moveTo(taskKey(next));
    router.push(taskHref(next, query), { scroll: false });
  };
  useHotkeys({ j: () => move(1), k: () => move(-1) });
  return (
    // Takes exactly the height that is left below a notice.
    <div className="flex flex-1 lg:h-0 lg:flex-auto">
      {/* On a phone the task takes the place of the list and its heading. */}
      {chosen ? <h1 className="sr-only lg:hidden">Inbox</h1> : null}
      <section
        aria-label={view === 'waiting' ? 'Waiting tasks' : 'Answered tasks'}
        className={cx('w-full flex-col lg:flex lg:w-90 lg:shrink-0 lg:border-r', chosen ? 'hidden' : 'flex')}
      >
        <div className="flex flex-col gap-3 border-b px-4 py-5 sm:px-6">
          <div className="flex items-center justify-between gap-2">
            <h1 className="text-xl leading-8 font-semibold tracking-tight">Inbox</h1>
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
        <AskedDecision target={keyTarget.target}>{children}</AskedDecision>
      </section>
    </div>
  );
}

/** Tracks the task to which the keys have moved. The page may lag behind, and no key of a quick series is lost. */
function useKeyTarget(chosen: string | null) {
  const ahead = useRef<string[]>([]);
  const current = useRef(chosen);
  useEffect(() => {
    current.current = chosen;
    // The page has reached one of these tasks, or a click has opened another one.
    const at = chosen === null ? -1 : ahead.current.indexOf(chosen);
    ahead.current = at === -1 ? [] : ahead.current.slice(at + 1);
  }, [chosen]);
  return {
    target: () => ahead.current.at(-1) ?? current.current,
    moveTo: (key: string) => void ahead.current.push(key),
  };
}

/** Links to the two lists. Each link keeps the filters that both lists share. */
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

/** Returns the task in the path. */
function useChosen(): Chosen | null {
  const params = useParams<{ runId?: string; taskId?: string }>();
  const pathname = usePathname();
  if (!pathname.startsWith('/inbox/') || !params.runId || !params.taskId) return null;
  return { runId: params.runId, taskId: decodeURIComponent(params.taskId) };
}
