'use client';
import { useQueryClient } from '@tanstack/react-query';
import { Check, X } from 'lucide-react';
import { useState } from 'react';
import { useSession } from '../session/session.tsx';
import { inScope, useTRPC, useTRPCClient } from '../trpc/provider.tsx';
import { Button } from '../ui/button.tsx';
import { Checkbox } from '../ui/checkbox.tsx';
import { Confirm } from '../ui/confirm.tsx';
import { readError } from '../ui/errors.ts';
import { toast } from '../ui/toaster.tsx';
import { countTasks, planBulk } from './bulk-plan.ts';
import { type Task, taskKey } from './use-inbox.ts';

type Failure = { task: Task; message: string };

/** Returns a function that answers tasks one by one; a failure does not stop the others. */
function useBulkAnswer() {
  const trpc = useTRPC();
  const client = useTRPCClient();
  const queries = useQueryClient();
  const { scope } = useSession();
  const [done, setDone] = useState<number | null>(null);
  const answer = async (tasks: readonly Task[], approved: boolean): Promise<Failure[]> => {
    const failures: Failure[] = [];
    for (const [index, task] of tasks.entries()) {
      setDone(index);
      const { workflow_id: id, run_id: runID, task_id, project_id: project } = task;
      try {
        const context = inScope({ tenant: scope.tenant, project });
        await client.tasks_complete.mutate({ id, runID, task_id, approved }, { context });
      } catch (error) {
        failures.push({ task, message: readError(error).message });
      }
    }
    await Promise.all([
      queries.invalidateQueries(trpc.tasks_list_pending.queryFilter()),
      queries.invalidateQueries(trpc.tasks_list_answered.pathFilter()),
      queries.invalidateQueries(trpc.tasks_list_run.queryFilter()),
      queries.invalidateQueries(trpc.runs_list_tenant.queryFilter()),
    ]);
    setDone(null);
    return failures;
  };
  return { answer, done };
}

type Props = {
  /** The listed tasks that the user may answer. */
  tasks: readonly Task[];
  selected: ReadonlySet<string>;
  onSelect: (selected: ReadonlySet<string>) => void;
};

/** Selects all listed tasks, and answers the selected tasks after one confirmation. */
export function BulkAnswer({ tasks, selected, onSelect }: Props) {
  const [approved, setApproved] = useState<boolean | null>(null);
  const chosen = tasks.filter(task => selected.has(taskKey(task)));
  return (
    <>
      {tasks.length < 2 ? null : (
        <section
          aria-label="Selected tasks"
          className="flex min-h-11 flex-wrap items-center gap-2 border-b px-4 py-1.5"
        >
          <div className="flex-1">
            <Checkbox
              label={chosen.length === 0 ? 'Select all' : `${chosen.length} selected`}
              checked={chosen.length === tasks.length}
              onCheckedChange={checked => onSelect(new Set(checked ? tasks.map(taskKey) : []))}
            />
          </div>
          {chosen.length > 0 ? (
            <>
              <Button size="sm" icon={<Check aria-hidden className="size-3.5" />} onClick={() => setApproved(true)}>
                Approve selected
              </Button>
              <Button size="sm" icon={<X aria-hidden className="size-3.5" />} onClick={() => setApproved(false)}>
                Reject selected
              </Button>
            </>
          ) : null}
        </section>
      )}
      {/* Stays open while the list empties, to show which answers failed. */}
      {approved === null ? null : (
        <ConfirmBulk
          tasks={chosen}
          approved={approved}
          onClose={() => setApproved(null)}
          onAnswered={failed => onSelect(new Set(failed.map(taskKey)))}
        />
      )}
    </>
  );
}

type ConfirmProps = {
  tasks: readonly Task[];
  approved: boolean;
  onClose: () => void;
  /** Called with the tasks that are still waiting. */
  onAnswered: (left: readonly Task[]) => void;
};

function ConfirmBulk({ tasks, approved, onClose, onAnswered }: ConfirmProps) {
  // Fixed when the dialog opens: the list may change behind it.
  const [plan] = useState(() => planBulk(tasks, approved));
  const [failures, setFailures] = useState<readonly Failure[] | null>(null);
  const { answer, done } = useBulkAnswer();
  const count = plan.answered.length;
  const submit = async () => {
    const failed = await answer(plan.answered, approved);
    onAnswered([...failed.map(({ task }) => task), ...plan.left]);
    const sent = count - failed.length;
    if (sent > 0) toast.success(`${approved ? 'Approved' : 'Rejected'} ${countTasks(sent)}`);
    if (failed.length === 0) onClose();
    else setFailures(failed);
  };
  const verb = approved ? 'Approve' : 'Reject';
  if (failures !== null)
    return (
      <Confirm
        open
        onOpenChange={onClose}
        title={`${countTasks(failures.length)} could not be answered`}
        cancel="Close"
      >
        <ul className="flex max-h-60 flex-col gap-1 overflow-y-auto">
          {failures.map(({ task, message }) => (
            <li key={taskKey(task)} className="wrap-anywhere">
              <span className="font-medium text-text">{task.name}</span>: {message}
            </li>
          ))}
        </ul>
      </Confirm>
    );
  return (
    <Confirm
      open
      onOpenChange={open => !open && done === null && onClose()}
      title={count === 0 ? 'These tasks have forms' : `${verb} ${countTasks(count)}?`}
      action={count === 0 ? undefined : `${verb} ${countTasks(count)}`}
      tone={approved ? 'primary' : 'danger'}
      pending={done !== null}
      onConfirm={() => void submit()}
    >
      {count > 0 ? <p>Their runs continue at once. An answer cannot be changed.</p> : null}
      {plan.left.length > 0 ? (
        <p className="mt-1">
          {count === 0
            ? 'Fill in their forms one by one.'
            : `${countTasks(plan.left.length)} with a form will be left out.`}
        </p>
      ) : null}
      {done === null ? null : (
        <p role="status" className="mt-1 tabular-nums">
          {done + 1} of {count}
        </p>
      )}
    </Confirm>
  );
}
