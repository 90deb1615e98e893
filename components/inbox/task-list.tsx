'use client';
import { Inbox, SearchX } from 'lucide-react';
import { useSearchParams } from 'next/navigation';
import { useEffect, useRef } from 'react';
import { useSession } from '../session/session.tsx';
import { Badge } from '../ui/badge.tsx';
import { Button, ButtonLink } from '../ui/button.tsx';
import { Checkbox } from '../ui/checkbox.tsx';
import { cx } from '../ui/classes.ts';
import { Link } from '../ui/link.tsx';
import { Skeleton } from '../ui/skeleton.tsx';
import { EmptyState, ErrorState } from '../ui/states.tsx';
import { RelativeTime } from '../ui/time.tsx';
import { useUrlState } from '../ui/use-url-state.ts';
import { BulkAnswer } from './bulk-answer.tsx';
import { FILTER_KEYS, isFiltered } from './inbox-filter.ts';
import type { Chosen } from './inbox-frame.tsx';
import { mayAnswer } from './may-answer.ts';
import { type Task, taskHref, taskKey, useInbox, useInboxFilter } from './use-inbox.ts';

type Selected = ReadonlySet<string>;
type ListProps = { chosen: Chosen | null; selected: Selected; onSelect: (selected: Selected) => void };

/** Lists the pending tasks, newest first. */
export function TaskList({ chosen, selected, onSelect }: ListProps) {
  const { me } = useSession();
  const list = useInbox();
  const answerable = (list.data?.tasks ?? []).filter(task => mayAnswer(task, me));
  const toggle = (task: Task) => {
    const key = taskKey(task);
    const next = new Set(selected);
    if (!next.delete(key)) next.add(key);
    onSelect(next);
  };
  if (list.isError && !list.data) return <ErrorState error={list.error} onRetry={() => void list.refetch()} />;
  if (!list.data) return <ListPlaceholder />;
  const canSelect = answerable.length > 1;
  return (
    <>
      <BulkAnswer tasks={answerable} selected={selected} onSelect={onSelect} />
      {list.data.tasks.length === 0 ? <Nothing /> : null}
      <ul className="min-h-0 flex-1 overflow-y-auto">
        {list.data.tasks.map(task => (
          <Row
            key={taskKey(task)}
            task={task}
            current={task.run_id === chosen?.runId && task.task_id === chosen.taskId}
            selected={selected.has(taskKey(task))}
            onToggle={canSelect && answerable.includes(task) ? () => toggle(task) : undefined}
          />
        ))}
        {list.data.next_cursor ? (
          <li className="px-4 py-3 sm:px-6 text-xs text-muted">
            The newest {list.data.tasks.length} are shown. Older tasks appear as these are answered.
          </li>
        ) : null}
      </ul>
    </>
  );
}

type RowProps = {
  task: Task;
  current: boolean;
  selected: boolean;
  /** undefined if the task cannot be selected. */
  onToggle: (() => void) | undefined;
};

function Row({ task, current, selected, onToggle }: RowProps) {
  const { me } = useSession();
  const query = useSearchParams().toString();
  const row = useRef<HTMLLIElement>(null);
  useEffect(() => {
    if (current) row.current?.scrollIntoView({ block: 'nearest' });
  }, [current]);
  const project = me.tenants
    .find(tenant => tenant.id === me.tenant.id)
    ?.projects.find(each => each.id === task.project_id);
  return (
    <li ref={row} className={cx('flex border-b', current ? 'bg-accent-soft' : 'hover:bg-hover')}>
      {onToggle ? (
        <div className="py-2.5 pl-4">
          <Checkbox
            label={<span className="sr-only">Select {task.name}</span>}
            checked={selected}
            onCheckedChange={onToggle}
          />
        </div>
      ) : null}
      <Link
        href={taskHref(task, query)}
        scroll={false}
        aria-current={current ? 'true' : undefined}
        className={cx(
          'flex min-w-0 flex-1 flex-col gap-0.5 py-2.5 pr-4 sm:pr-6 focus-visible:-outline-offset-2',
          onToggle ? 'pl-1' : 'pl-4 sm:pl-6',
        )}
      >
        <span className="flex items-baseline justify-between gap-2">
          <span className="truncate text-sm font-medium">{task.name}</span>
          <RelativeTime at={task.created_at} className="shrink-0 text-xs text-muted tabular-nums" />
        </span>
        <span className="flex items-center gap-1.5 text-xs text-muted">
          <span className="truncate">{task.workflow_name}</span>
          {project && project.id !== me.project.id ? <Badge>{project.name}</Badge> : null}
          {task.due_at ? (
            <Badge tone="warn">
              due <RelativeTime at={task.due_at} className="tabular-nums" />
            </Badge>
          ) : null}
        </span>
      </Link>
    </li>
  );
}

/** A placeholder for a list of tasks that is loading. */
export function ListPlaceholder() {
  return (
    <div aria-hidden>
      {['w-40', 'w-32', 'w-44', 'w-36'].map(width => (
        <div key={width} className="flex flex-col gap-2 border-b px-4 py-3 sm:px-6">
          <Skeleton className={cx('h-3.5', width)} />
          <Skeleton className="h-3 w-24" />
        </div>
      ))}
    </div>
  );
}

function Nothing() {
  const filtered = isFiltered(useInboxFilter());
  if (filtered) return <EmptyState icon={SearchX} title="No task matches" action={<ClearFilters />} />;
  return (
    <EmptyState icon={Inbox} title="No tasks waiting" action={<ButtonLink href="/runs">Go to runs</ButtonLink>}>
      When a run needs a person, its task appears here.
    </EmptyState>
  );
}

/** Clears the filters. */
export function ClearFilters() {
  const { set } = useUrlState();
  const clear = () => set(Object.fromEntries(FILTER_KEYS.map(key => [key, undefined])));
  return <Button onClick={clear}>Clear filters</Button>;
}
