'use client';
import { useMutation, useQueryClient } from '@tanstack/react-query';
import { Play } from 'lucide-react';
import dynamic from 'next/dynamic';
import { type FormEvent, useState } from 'react';
import { useTRPC } from '../trpc/provider.tsx';
import { Button } from '../ui/button.tsx';
import { Card } from '../ui/card.tsx';
import { Field, Textarea } from '../ui/field.tsx';
import { Skeleton } from '../ui/skeleton.tsx';
import { FormError } from '../ui/states.tsx';
import type { Agent } from './agent-draft.ts';
import type { AgentEditing } from './use-agent-draft.ts';

const TestRun = dynamic(() => import('./test-run.tsx').then(module => module.TestRun), {
  ssr: false,
  loading: () => <Skeleton className="h-40 w-full" />,
});

/** Runs the agent with a message and shows every turn. Saves changes first, because runs use saved versions. */
export function TestPanel({ agent, editing }: { agent: Agent; editing: AgentEditing }) {
  const trpc = useTRPC();
  const queries = useQueryClient();
  const [message, setMessage] = useState('');
  const start = useMutation(
    trpc.agents_run.mutationOptions({
      onSuccess: () => queries.invalidateQueries(trpc.agents_list.queryFilter()),
    }),
  );
  const submit = async (event: FormEvent) => {
    event.preventDefault();
    if (await editing.save()) start.mutate({ id: agent.id, input: { message } });
  };
  const canStart = agent.status === 'active' && message.trim() !== '';
  return (
    <Card
      title="Test"
      description="Runs the agent for real: its tools take effect, and credits are charged."
      className="min-w-0 self-start"
    >
      <form onSubmit={event => void submit(event)} className="flex flex-col gap-3">
        <FormError error={start.error} />
        <Field
          label="Message"
          {...(agent.status === 'active' ? {} : { hint: `The agent is ${agent.status} and cannot start runs.` })}
        >
          <Textarea rows={3} value={message} onChange={event => setMessage(event.target.value)} />
        </Field>
        {agent.starters.length > 0 ? (
          <div className="flex flex-wrap gap-1">
            {agent.starters.map(starter => (
              <Button key={starter} size="sm" type="button" onClick={() => setMessage(starter)}>
                {starter}
              </Button>
            ))}
          </div>
        ) : null}
        <Button
          type="submit"
          className="self-end"
          icon={<Play aria-hidden className="size-3.5" />}
          disabled={!canStart}
          pending={start.isPending || editing.isSaving}
        >
          {editing.isChanged ? 'Save and run' : 'Run'}
        </Button>
      </form>
      {start.data ? (
        <div className="mt-4 border-t pt-4">
          <TestRun key={start.data.run_id} agentId={agent.id} runId={start.data.run_id} />
        </div>
      ) : null}
    </Card>
  );
}
