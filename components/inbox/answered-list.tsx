'use client';
import { CircleCheck, CircleX, History, SearchX } from 'lucide-react';
import { useSearchParams } from 'next/navigation';
import { cx } from '../ui/classes.ts';
import { Link } from '../ui/link.tsx';
import { ReadOn } from '../ui/pager.tsx';
import { EmptyState, ErrorState } from '../ui/states.tsx';
import { RelativeTime } from '../ui/time.tsx';
import { isFiltered } from './inbox-filter.ts';
import type { Chosen } from './inbox-frame.tsx';
import { ClearFilters, ListPlaceholder } from './task-list.tsx';
import { type AnsweredTask, taskHref, taskKey, useAnswered, useInboxFilter } from './use-inbox.ts';

/** Lists the answered tasks, the latest answer first. */
export function AnsweredList({ chosen }: { chosen: Chosen | null }) {
  const list = useAnswered();
  const filtered = isFiltered(useInboxFilter());
  if (list.isError && !list.data) return <ErrorState error={list.error} onRetry={() => void list.refetch()} />;
  if (!list.data) return <ListPlaceholder />;
  const tasks = list.data.pages.flatMap(page => page.tasks);
  if (tasks.length === 0)
    return filtered ? (
      <EmptyState icon={SearchX} title="No answered task matches" action={<ClearFilters />} />
    ) : (
      <EmptyState icon={History} title="No answered tasks yet">
        Approved and rejected tasks appear here.
      </EmptyState>
    );
  return (
    <div className="min-h-0 flex-1 overflow-y-auto">
      <ul>
        {tasks.map(task => (
          <Row
            key={taskKey(task)}
            task={task}
            current={task.run_id === chosen?.runId && task.task_id === chosen.taskId}
          />
        ))}
      </ul>
      <ReadOn list={list}>Show older answers</ReadOn>
    </div>
  );
}

function Row({ task, current }: { task: AnsweredTask; current: boolean }) {
  const query = useSearchParams().toString();
  const Icon = task.approved ? CircleCheck : CircleX;
  return (
    <li>
      <Link
        href={taskHref(task, query)}
        scroll={false}
        aria-current={current ? 'true' : undefined}
        className={cx(
          'flex flex-col gap-0.5 border-b px-4 py-2.5 sm:px-6 focus-visible:-outline-offset-2',
          current ? 'bg-accent-soft' : 'hover:bg-hover',
        )}
      >
        <span className="flex items-baseline justify-between gap-2">
          <span className="truncate text-sm font-medium">{task.name}</span>
          {task.completed_at ? (
            <RelativeTime at={task.completed_at} className="shrink-0 text-xs text-muted tabular-nums" />
          ) : null}
        </span>
        <span className="truncate text-xs text-muted">{task.workflow_name}</span>
        <span className={cx('flex items-center gap-1 text-xs', task.approved ? 'text-ok' : 'text-bad')}>
          <Icon aria-hidden className="size-3.5 shrink-0" />
          <span className="truncate">
            {task.approved ? 'Approved' : 'Rejected'} by {task.completed_by ?? 'someone'}
          </span>
        </span>
      </Link>
    </li>
  );
}
