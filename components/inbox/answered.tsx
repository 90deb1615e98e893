'use client';
import { CircleCheck, CircleSlash, CircleX, Clock, type LucideIcon } from 'lucide-react';
import { ScopedLink } from '../session/scoped-link.tsx';
import { buttonClass } from '../ui/button.tsx';
import { RelativeTime } from '../ui/time.tsx';
import { TaskHeading } from './task-heading.tsx';
import type { RunTask } from './task-view.tsx';

type Outcome = { icon: LucideIcon; tone: string; text: string };

function outcome(task: RunTask): Outcome {
  const who = task.completed_by ?? 'someone';
  switch (task.state) {
    case 'completed':
      return task.approved
        ? { icon: CircleCheck, tone: 'text-ok', text: `Approved by ${who}` }
        : { icon: CircleX, tone: 'text-bad', text: `Rejected by ${who}` };
    case 'timed_out':
      return { icon: Clock, tone: 'text-warn', text: 'It timed out before anyone answered' };
    case 'cancelled':
    case 'pending':
      return { icon: CircleSlash, tone: 'text-muted', text: 'Withdrawn because the run ended' };
  }
}

/** The answer of a task, shown in place of an error: who answered it, and when. */
export function Answered({ task }: { task: RunTask }) {
  const { icon: Icon, tone, text } = outcome(task);
  return (
    <>
      <TaskHeading task={task} />
      <div role="status" className="mt-5 flex flex-wrap items-center gap-3 rounded-lg border bg-surface px-4 py-3">
        <Icon aria-hidden className={`size-5 ${tone}`} />
        <p className="flex-1 text-sm font-medium">
          {text} {task.completed_at ? <RelativeTime at={task.completed_at} className="font-normal text-muted" /> : null}
        </p>
        <ScopedLink
          project={task.project_id}
          href={`/workflows/${task.workflow_id}/runs/${task.run_id}`}
          className={buttonClass('secondary', 'sm')}
        >
          Open the run
        </ScopedLink>
      </div>
    </>
  );
}
