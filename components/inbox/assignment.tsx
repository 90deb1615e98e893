'use client';
import { useMutation, useQueryClient } from '@tanstack/react-query';
import { Undo2, UserRound, UserRoundPlus } from 'lucide-react';
import dynamic from 'next/dynamic';
import { useState } from 'react';
import { useSession } from '../session/session.tsx';
import { inScope, useTRPC } from '../trpc/provider.tsx';
import { Button } from '../ui/button.tsx';
import { toast, toastError } from '../ui/toaster.tsx';
import { useLoadedEarly, useOpened } from '../ui/use-opened.ts';
import { mayAssign } from './may-answer.ts';
import type { RunTask } from './task-view.tsx';

const loadDialog = () => import('./assign-dialog.tsx');
const AssignDialog = dynamic(() => loadDialog().then(module => module.AssignDialog), { ssr: false });

/** Assigns a task to other people. If another person has answered the task meanwhile, the task then shows who. */
function useAssign(task: RunTask) {
  const trpc = useTRPC();
  const queries = useQueryClient();
  const { scope } = useSession();
  return useMutation(
    trpc.tasks_assign.mutationOptions({
      trpc: { context: inScope({ tenant: scope.tenant, project: task.project_id }) },
      onSuccess: ({ assigned_by, assignees }) =>
        void toast.success(
          assigned_by === null ? `Unassigned “${task.name}”` : `Assigned “${task.name}” to ${assignees.join(', ')}`,
        ),
      onSettled: () =>
        Promise.all([
          queries.invalidateQueries(trpc.tasks_list_pending.queryFilter()),
          queries.invalidateQueries(trpc.tasks_list_run.queryFilter()),
        ]),
    }),
  );
}

/** The buttons that assign a task, for users who may. */
export function Assignment({ task }: { task: RunTask }) {
  const { me } = useSession();
  const [open, setOpen] = useState(false);
  const hasDialog = useOpened(open);
  useLoadedEarly(loadDialog);
  const assign = useAssign(task);
  if (!mayAssign(task, me)) return null;
  const ref = { id: task.workflow_id, runID: task.run_id, task_id: task.task_id };
  const to = (assignees: string[] | null) => assign.mutate({ ...ref, assignees }, { onError: toastError });
  const isMine = task.assignees.length === 1 && task.assignees[0]?.toLowerCase() === me.user.email;
  const icon = 'size-3.5';
  return (
    <section aria-label="Assignment" className="mt-3 flex flex-wrap gap-2">
      {isMine ? null : (
        <Button
          size="sm"
          icon={<UserRound aria-hidden className={icon} />}
          disabled={assign.isPending}
          onClick={() => to([me.user.email])}
        >
          Assign to me
        </Button>
      )}
      <Button
        size="sm"
        icon={<UserRoundPlus aria-hidden className={icon} />}
        disabled={assign.isPending}
        onClick={() => setOpen(true)}
      >
        Assign to others
      </Button>
      {task.assigned_by === null ? null : (
        <Button
          size="sm"
          icon={<Undo2 aria-hidden className={icon} />}
          disabled={assign.isPending}
          onClick={() => to(null)}
        >
          Unassign
        </Button>
      )}
      {hasDialog ? (
        <AssignDialog
          project={task.project_id}
          open={open}
          pending={assign.isPending}
          error={assign.error}
          onClose={() => {
            setOpen(false);
            assign.reset();
          }}
          onAssign={assignees => assign.mutate({ ...ref, assignees }, { onSuccess: () => setOpen(false) })}
        />
      ) : null}
    </section>
  );
}
