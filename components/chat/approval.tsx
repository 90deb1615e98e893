'use client';
import { useMutation, useQuery, useQueryClient } from '@tanstack/react-query';
import { Check, X } from 'lucide-react';
import { useState } from 'react';
import type { Json } from '@/server/platform/json.ts';
import { GrantButtons, type GrantFor } from '../inbox/grant-buttons.tsx';
import { MayCost } from '../inbox/may-cost.tsx';
import { usePermissions } from '../session/session.tsx';
import { useTRPC } from '../trpc/provider.tsx';
import { Button } from '../ui/button.tsx';
import { readError } from '../ui/errors.ts';
import { Field, Input } from '../ui/field.tsx';
import { JsonTree } from '../ui/json-tree.tsx';
import { Link } from '../ui/link.tsx';
import { FormError } from '../ui/states.tsx';
import { stepOf } from './parts.ts';

/** Returns the reason of the service, which is a sentence about the agent, as text for the approval. */
const askedBecause = (reason: string): string =>
  `Asked because ${reason.charAt(0).toLowerCase()}${reason.slice(1)}`.replaceAll('`', '');

type Props = { id: string; tool: string; input: Json | undefined; workflowId: string };

/** Asks to approve a call. The same task is in the inbox, and the first answer counts. */
export function Approval({ id, tool, input, workflowId }: Props) {
  const trpc = useTRPC();
  const queries = useQueryClient();
  const { canWrite } = usePermissions();
  const [reason, setReason] = useState('');
  const { runId, step } = stepOf(id);
  const answer = useMutation(
    trpc.tasks_complete.mutationOptions({
      onSuccess: () =>
        Promise.all([
          queries.invalidateQueries(trpc.tasks_list_pending.queryFilter()),
          queries.invalidateQueries(trpc.chat_list_grants.queryFilter()),
        ]),
    }),
  );
  const task = useQuery(
    trpc.tasks_list_run.queryOptions({ id: workflowId, runID: runId, task_id: step }, { enabled: canWrite }),
  );
  const decide = (approved: boolean, grant?: GrantFor) =>
    answer.mutate({
      id: workflowId,
      runID: runId,
      task_id: step,
      approved,
      ...(grant && { grant: { for: grant } }),
      ...(!approved && reason.trim() !== '' && { result: { reason: reason.trim() } }),
    });
  // After a conflict, another person has answered. The stream will show the answer.
  const isDecided = answer.isSuccess || (answer.error !== null && readError(answer.error).status === 409);
  const inbox = `/inbox/${runId}/${encodeURIComponent(step)}`;
  return (
    <fieldset className="flex flex-col gap-2 border-t bg-warn-soft/40 p-2.5" disabled={isDecided || answer.isPending}>
      <legend className="sr-only">Approval of {tool}</legend>
      <p className="text-sm">
        {canWrite ? (
          <>
            May <code className="text-xs">{tool}</code> be called? To change the arguments, open it in the{' '}
          </>
        ) : (
          'A contributor has to approve this call. It is waiting in the '
        )}
        <Link href={inbox} className="text-accent-text underline">
          inbox
        </Link>
        .
      </p>
      {task.data?.tasks[0]?.asked_because === undefined ? null : (
        <p className="text-sm wrap-anywhere">{askedBecause(task.data.tasks[0].asked_because)}</p>
      )}
      <MayCost microcredits={task.data?.tasks[0]?.max_cost_microcredits} />
      {input === undefined ? null : <JsonTree label="Arguments to approve" value={input} className="max-h-60" />}
      {canWrite ? (
        <>
          <Field label="Reason to reject" optional>
            <Input value={reason} maxLength={2_000} onChange={event => setReason(event.target.value)} />
          </Field>
          {isDecided ? null : <FormError error={answer.error} />}
          <div className="flex gap-2">
            <Button
              variant="primary"
              size="sm"
              icon={<Check aria-hidden className="size-3.5" />}
              pending={answer.isPending && answer.variables?.approved === true && !answer.variables.grant}
              onClick={() => decide(true)}
            >
              Approve
            </Button>
            <Button
              variant="danger"
              size="sm"
              icon={<X aria-hidden className="size-3.5" />}
              pending={answer.isPending && answer.variables?.approved === false}
              onClick={() => decide(false)}
            >
              Reject
            </Button>
          </div>
          <GrantButtons
            size="sm"
            grants={task.data?.tasks[0]?.grants ?? []}
            pending={(answer.isPending && answer.variables.grant?.for) || null}
            onGrant={grant => decide(true, grant)}
          />
        </>
      ) : null}
    </fieldset>
  );
}
