'use client';
import { useMutation, useQueryClient } from '@tanstack/react-query';
import { Check, X } from 'lucide-react';
import { useRouter, useSearchParams } from 'next/navigation';
import { useEffect, useRef, useState } from 'react';
import { changedValues, initialValues, resultOf, validateValues } from '../forms/form-schema.ts';
import { TaskFields } from '../forms/task-fields.tsx';
import { usePermissions, useSession } from '../session/session.tsx';
import { inScope, useTRPC } from '../trpc/provider.tsx';
import { Button } from '../ui/button.tsx';
import { Confirm } from '../ui/confirm.tsx';
import { readError } from '../ui/errors.ts';
import { Kbd } from '../ui/kbd.tsx';
import { FormError } from '../ui/states.tsx';
import { toast } from '../ui/toaster.tsx';
import { useAskedDecision } from './asked-decision.tsx';
import { Assignment } from './assignment.tsx';
import { GrantButtons, type GrantFor } from './grant-buttons.tsx';
import { mayAnswer } from './may-answer.ts';
import { MayCost } from './may-cost.tsx';
import { RunBackground } from './run-background.tsx';
import { TaskHeading } from './task-heading.tsx';
import type { RunTask } from './task-view.tsx';
import { taskHref, taskKey, useInbox } from './use-inbox.ts';

/** A pending task: the question, its form, and the decision. */
export function TaskDetail({ task }: { task: RunTask }) {
  const { me } = useSession();
  const allowed = mayAnswer(task, me);
  return (
    <>
      <TaskHeading task={task} />
      <Assignment task={task} />
      {allowed ? <Decision task={task} /> : <NotAllowed task={task} />}
      <RunBackground task={task} />
    </>
  );
}

function NotAllowed({ task }: { task: RunTask }) {
  const { canWrite } = usePermissions();
  useAskedDecision(taskKey(task), null);
  return (
    <p className="mt-5 rounded-md bg-hover px-3 py-2 text-sm text-muted">
      {canWrite ? `Only ${task.assignees.join(', ')} can answer this.` : 'You need the contributor role to answer.'}
    </p>
  );
}

/** Returns the mutation that answers a task and then opens the next task. */
function useAnswer(task: RunTask) {
  const trpc = useTRPC();
  const queries = useQueryClient();
  const router = useRouter();
  const { scope } = useSession();
  const query = useSearchParams().toString();
  const inbox = useInbox();
  const tasks = inbox.data?.tasks ?? [];
  const at = tasks.findIndex(each => each.run_id === task.run_id && each.task_id === task.task_id);
  const next = tasks[at + 1] ?? tasks[at - 1];
  const refresh = () =>
    Promise.all([
      queries.invalidateQueries(trpc.tasks_list_pending.queryFilter()),
      queries.invalidateQueries(trpc.tasks_list_answered.pathFilter()),
      queries.invalidateQueries(trpc.tasks_list_run.queryFilter()),
      queries.invalidateQueries(trpc.runs_list_tenant.queryFilter()),
    ]);
  return useMutation(
    trpc.tasks_complete.mutationOptions({
      trpc: { context: inScope({ tenant: scope.tenant, project: task.project_id }) },
      onSuccess: async answer => {
        toast.success(answer.approved ? `Approved “${task.name}”` : `Rejected “${task.name}”`);
        // On a wide screen the next task opens beside the list; on a phone the list opens.
        const wide = window.matchMedia('(min-width: 1024px)').matches;
        const rest = query ? `/inbox?${query}` : '/inbox';
        router.push(wide && next && at !== -1 ? taskHref(next, query) : rest, { scroll: false });
        await refresh();
      },
      // 409: another person answered first. The refreshed page shows who.
      onError: error => readError(error).status === 409 && void refresh(),
    }),
  );
}

function Decision({ task }: { task: RunTask }) {
  const form = task.form;
  const [initial] = useState(() => (form ? initialValues(form) : {}));
  const [values, setValues] = useState(initial);
  const [comment, setComment] = useState('');
  const [problems, setProblems] = useState<ReadonlyMap<string, string>>(new Map());
  const answer = useAnswer(task);
  const body = useRef<HTMLFormElement>(null);
  const busy = answer.isPending || answer.isSuccess;
  // A decision by key must be confirmed, because a key is pressed accidentally more easily than a button.
  const [asked, setAsked] = useState<boolean | null>(null);
  useEffect(() => {
    if (problems.size > 0) body.current?.querySelector<HTMLElement>('[aria-invalid="true"]')?.focus();
  }, [problems]);

  /** Returns the result to send. If the form has problems, shows them and returns null. */
  const check = (approved: boolean) => {
    const result = resultOf(approved ? values : changedValues(values, initial), comment, initial);
    // A rejection without input skips the form, because the form is for the approved action.
    const found = form && (approved || result) ? validateValues(form, result ?? {}) : new Map();
    setProblems(found);
    return found.size > 0 ? null : { ...(result ? { result } : {}) };
  };
  const decide = (approved: boolean, grant?: GrantFor) => {
    if (busy) return;
    const checked = check(approved);
    const { workflow_id: id, run_id: runID, task_id } = task;
    if (checked) answer.mutate({ id, runID, task_id, approved, ...checked, ...(grant && { grant: { for: grant } }) });
  };
  useAskedDecision(taskKey(task), approved => {
    if (!busy && check(approved)) setAsked(approved);
  });

  return (
    <form
      ref={body}
      noValidate
      onSubmit={event => event.preventDefault()}
      className="mt-5 flex flex-col gap-4 rounded-lg border bg-surface p-4 shadow-sm"
    >
      <TaskFields
        form={form}
        values={values}
        comment={comment}
        problems={problems}
        onValues={setValues}
        onComment={setComment}
      />
      <MayCost microcredits={task.max_cost_microcredits} />
      <FormError error={answer.error} />
      <div className="flex flex-wrap gap-2">
        <Button
          variant="primary"
          className="min-w-28 max-sm:h-10 max-sm:flex-1"
          pending={busy && answer.variables?.approved === true && !answer.variables.grant}
          disabled={busy}
          icon={<Check aria-hidden className="size-3.5" />}
          onClick={() => decide(true)}
        >
          Approve
        </Button>
        <Button
          variant="danger"
          className="min-w-28 max-sm:h-10 max-sm:flex-1"
          pending={busy && answer.variables?.approved === false}
          disabled={busy}
          icon={<X aria-hidden className="size-3.5" />}
          onClick={() => decide(false)}
        >
          Reject
        </Button>
        <p className="ml-auto hidden items-center gap-1 text-xs text-faint lg:flex">
          <Kbd>a</Kbd> approve <Kbd>r</Kbd> reject <Kbd>j</Kbd>
          <Kbd>k</Kbd> next, previous
        </p>
      </div>
      <GrantButtons
        grants={task.grants ?? []}
        pending={(busy && answer.variables?.grant?.for) || null}
        disabled={busy}
        onGrant={grant => decide(true, grant)}
      />
      <ConfirmDecision
        task={task}
        approved={asked}
        onClose={() => setAsked(null)}
        onConfirm={approved => {
          setAsked(null);
          decide(approved);
        }}
      />
    </form>
  );
}

/** Asks for confirmation of a decision by key. Enter confirms. */
function ConfirmDecision({
  task,
  approved,
  onClose,
  onConfirm,
}: {
  task: RunTask;
  approved: boolean | null;
  onClose: () => void;
  onConfirm: (approved: boolean) => void;
}) {
  // Keeps the last decision while the dialog closes.
  const [last, setLast] = useState(true);
  if (approved !== null && approved !== last) setLast(approved);
  const verb = last ? 'Approve' : 'Reject';
  return (
    <Confirm
      open={approved !== null}
      onOpenChange={open => open || onClose()}
      title={`${verb} “${task.name}”?`}
      action={verb}
      tone={last ? 'primary' : 'danger'}
      focus="action"
      onConfirm={() => onConfirm(last)}
    >
      The run continues at once. An answer cannot be changed.
    </Confirm>
  );
}
