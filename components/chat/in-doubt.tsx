'use client';
import { useMutation, useQueryClient } from '@tanstack/react-query';
import { usePermissions } from '../session/session.tsx';
import { useTRPC } from '../trpc/provider.tsx';
import { Button } from '../ui/button.tsx';
import { readError } from '../ui/errors.ts';
import { Link } from '../ui/link.tsx';
import { FormError } from '../ui/states.tsx';
import { stepOf } from './parts.ts';

type Props = { id: string; tool: string; workflowId: string };

/** Asks whether to repeat a lost call. The same task is in the inbox. */
export function InDoubt({ id, tool, workflowId }: Props) {
  const trpc = useTRPC();
  const queries = useQueryClient();
  const { canWrite } = usePermissions();
  const { runId, step } = stepOf(id);
  const answer = useMutation(
    trpc.tasks_complete.mutationOptions({
      onSuccess: () => queries.invalidateQueries(trpc.tasks_list_pending.queryFilter()),
    }),
  );
  const decide = (approved: boolean) =>
    answer.mutate({
      id: workflowId,
      runID: runId,
      task_id: step,
      approved,
      ...(approved && { result: { decision: 'repeat' } }),
    });
  // A conflict means that another person has answered. The stream will show the answer.
  const isDecided = answer.isSuccess || (answer.error !== null && readError(answer.error).status === 409);
  const inbox = (
    <Link href={`/inbox/${runId}/${encodeURIComponent(step)}`} className="text-accent-text underline">
      inbox
    </Link>
  );
  return (
    <fieldset className="flex flex-col gap-2 border-t bg-warn-soft/40 p-2.5" disabled={isDecided || answer.isPending}>
      <legend className="sr-only">The call of {tool} may have happened</legend>
      <p className="text-sm">
        Baton stopped during this call, which may have happened.{' '}
        {canWrite ? 'To enter its result, open it in the ' : 'A contributor decides what to do, in the '}
        {inbox}.
      </p>
      {canWrite ? (
        <>
          {isDecided ? null : <FormError error={answer.error} />}
          <div className="flex gap-2">
            {[true, false].map(approved => (
              <Button
                key={String(approved)}
                size="sm"
                pending={answer.isPending && answer.variables.approved === approved}
                onClick={() => decide(approved)}
              >
                {approved ? 'Repeat it' : 'Skip it'}
              </Button>
            ))}
          </div>
        </>
      ) : null}
    </fieldset>
  );
}
