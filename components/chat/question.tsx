'use client';
import { useMutation, useQueryClient } from '@tanstack/react-query';
import { useState } from 'react';
import { isObject, type Json, type JsonObject } from '@/server/platform/json.ts';
import { formFields, initialValues, prune, resultOf, validateValues } from '../forms/form-schema.ts';
import { JsonForm } from '../forms/json-form.tsx';
import { usePermissions } from '../session/session.tsx';
import { useTRPC } from '../trpc/provider.tsx';
import { Button } from '../ui/button.tsx';
import { readError } from '../ui/errors.ts';
import { Link } from '../ui/link.tsx';
import { FormError } from '../ui/states.tsx';
import { stepOf } from './parts.ts';

type Props = { id: string; input: Json | undefined; workflowId: string };

/** The default form, for a question without a form from the agent. */
const TEXT: JsonObject = {
  type: 'object',
  properties: { answer: { type: 'string', title: 'Answer', minLength: 1, maxLength: 10_000 } },
  required: ['answer'],
};

/** Shows an agent's question with its form. The same task is in the inbox, and the first answer counts. */
export function Question({ id, input, workflowId }: Props) {
  const trpc = useTRPC();
  const queries = useQueryClient();
  const { canWrite } = usePermissions();
  const { question, form: given } = isObject(input) ? input : {};
  const form = isObject(given) ? given : TEXT;
  const [values, setValues] = useState(() => initialValues(form));
  const [problems, setProblems] = useState<ReadonlyMap<string, string>>(new Map());
  const answer = useMutation(
    trpc.tasks_complete.mutationOptions({
      onSuccess: () => queries.invalidateQueries(trpc.tasks_list_pending.queryFilter()),
    }),
  );
  const { runId, step } = stepOf(id);
  const task = { id: workflowId, runID: runId, task_id: step };
  const send = () => {
    const found = validateValues(form, prune(values));
    setProblems(found);
    if (found.size > 0) return;
    const result = resultOf(values, '');
    answer.mutate({ ...task, approved: true, ...(result && { result }) });
  };
  // A conflict means that another person has answered. The stream will show the answer.
  const isDecided = answer.isSuccess || (answer.error !== null && readError(answer.error).status === 409);
  return (
    <fieldset className="flex flex-col gap-3 border-t bg-warn-soft/40 p-2.5" disabled={isDecided || answer.isPending}>
      <legend className="sr-only">Question</legend>
      <p className="text-sm whitespace-pre-wrap wrap-anywhere">{typeof question === 'string' ? question : ''}</p>
      {canWrite ? (
        <JsonForm fields={formFields(form)} values={values} problems={problems} onChange={setValues} />
      ) : (
        <p className="text-sm text-muted">
          A contributor has to answer. It is waiting in the{' '}
          <Link href={`/inbox/${runId}/${encodeURIComponent(step)}`} className="text-accent-text underline">
            inbox
          </Link>
          .
        </p>
      )}
      {problems.get('') ? (
        <p role="alert" className="text-sm text-bad">
          {problems.get('')}
        </p>
      ) : null}
      {isDecided ? null : <FormError error={answer.error} />}
      {canWrite ? (
        <div className="flex gap-2">
          <Button variant="primary" size="sm" pending={answer.isPending && answer.variables.approved} onClick={send}>
            Answer
          </Button>
          <Button size="sm" onClick={() => answer.mutate({ ...task, approved: false })}>
            Skip
          </Button>
        </div>
      ) : null}
    </fieldset>
  );
}
