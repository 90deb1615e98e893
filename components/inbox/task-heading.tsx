'use client';
import { ScopedLink } from '../session/scoped-link.tsx';
import { useSession } from '../session/session.tsx';
import { Badge } from '../ui/badge.tsx';
import { CopyId } from '../ui/copy.tsx';
import { Markdown } from '../ui/markdown.tsx';
import { RelativeTime } from '../ui/time.tsx';
import type { RunTask } from './task-view.tsx';

/** The question, its run, and its waiting time. */
export function TaskHeading({ task }: { task: RunTask }) {
  const { me } = useSession();
  const project = me.tenants
    .find(tenant => tenant.id === me.tenant.id)
    ?.projects.find(each => each.id === task.project_id);
  return (
    <header className="flex flex-col gap-2">
      <h2 className="text-lg font-semibold tracking-tight">{task.name}</h2>
      <div className="flex flex-wrap items-center gap-x-3 gap-y-1 text-xs text-muted">
        <ScopedLink
          project={task.project_id}
          href={`/workflows/${task.workflow_id}/runs/${task.run_id}`}
          className="font-medium text-text underline-offset-2 hover:underline"
        >
          {task.workflow_name}
        </ScopedLink>
        <CopyId id={task.run_id} />
        <span>
          waiting since <RelativeTime at={task.created_at} className="tabular-nums" />
        </span>
        {task.due_at ? (
          <Badge tone="warn">
            due <RelativeTime at={task.due_at} className="tabular-nums" />
          </Badge>
        ) : null}
        {project && project.id !== me.project.id ? <Badge>{project.name}</Badge> : null}
        {task.assignees.length > 0 ? <span>for {task.assignees.join(', ')}</span> : null}
        {task.assigned_by === null ? null : <span>assigned by {task.assigned_by}</span>}
      </div>
      {task.instructions.trim() ? (
        <div className="mt-1">
          <Markdown text={task.instructions} />
        </div>
      ) : null}
    </header>
  );
}
