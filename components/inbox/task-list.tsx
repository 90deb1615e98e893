'use client';
import { Inbox, SearchX } from 'lucide-react';
import Link from 'next/link';
import { useSearchParams } from 'next/navigation';
import { useEffect, useRef } from 'react';
import { useSession } from '../shell/session.tsx';
import { Badge } from '../ui/badge.tsx';
import { Button, ButtonLink } from '../ui/button.tsx';
import { cx } from '../ui/classes.ts';
import { Skeleton } from '../ui/skeleton.tsx';
import { EmptyState, ErrorState } from '../ui/states.tsx';
import { RelativeTime } from '../ui/time.tsx';
import { useUrlState } from '../ui/use-url-state.ts';
import type { Chosen } from './inbox-frame.tsx';
import { type Task, taskHref, useInbox } from './use-inbox.ts';

export function TaskList({ chosen }: { chosen: Chosen | null }) {
  const list = useInbox();
  if (list.isError && !list.data) return <ErrorState error={list.error} onRetry={() => void list.refetch()} />;
  if (!list.data) return <Placeholder />;
  if (list.data.tasks.length === 0) return <Nothing />;
  return (
    <ul className="min-h-0 flex-1 overflow-y-auto">
      {list.data.tasks.map(task => (
        <Row
          key={`${task.run_id}:${task.task_id}`}
          task={task}
          current={task.run_id === chosen?.runId && task.task_id === chosen.taskId}
        />
      ))}
      {list.data.next_cursor ? (
        <li className="px-4 py-3 text-xs text-muted">
          The newest {list.data.tasks.length} are shown; older ones follow as these are answered.
        </li>
      ) : null}
    </ul>
  );
}

function Row({ task, current }: { task: Task; current: boolean }) {
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
    <li ref={row}>
      <Link
        href={taskHref(task, query)}
        scroll={false}
        aria-current={current ? 'true' : undefined}
        className={cx(
          'flex flex-col gap-0.5 border-b px-4 py-2.5 focus-visible:-outline-offset-2',
          current ? 'bg-accent-soft' : 'hover:bg-hover',
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

function Placeholder() {
  return (
    <div aria-hidden>
      {['w-40', 'w-32', 'w-44', 'w-36'].map(width => (
        <div key={width} className="flex flex-col gap-2 border-b px-4 py-3">
          <Skeleton className={cx('h-3.5', width)} />
          <Skeleton className="h-3 w-24" />
        </div>
      ))}
    </div>
  );
}

function Nothing() {
  const { get, set } = useUrlState();
  if (get('workflow_id') || get('assignee'))
    return (
      <EmptyState
        icon={SearchX}
        title="No task matches"
        action={<Button onClick={() => set({ workflow_id: '', assignee: '' })}>Clear filters</Button>}
      />
    );
  return (
    <EmptyState icon={Inbox} title="Nothing is waiting" action={<ButtonLink href="/runs">Go to runs</ButtonLink>}>
      When a run reaches a human task, it waits here until somebody approves or rejects.
    </EmptyState>
  );
}
