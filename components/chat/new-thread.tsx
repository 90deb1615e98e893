'use client';
import { useMutation, useQuery, useQueryClient } from '@tanstack/react-query';
import { useState } from 'react';
import { MissingKey } from '../models/missing-key.tsx';
import { useTRPC } from '../trpc/provider.tsx';
import { Button } from '../ui/button.tsx';
import { Field } from '../ui/field.tsx';
import { Select } from '../ui/select.tsx';
import { useUrlState } from '../ui/use-url-state.ts';
import { Composer } from './composer.tsx';
import { newMessageId } from './use-thread.ts';

/** The value for Autopilot in the choice of an agent. */
const AUTOPILOT = 'autopilot';

/** The form for a new conversation: the agent and the first message. */
export function NewThread({ onOpen }: { onOpen: (threadId: string) => void }) {
  const trpc = useTRPC();
  const queries = useQueryClient();
  const url = useUrlState();
  const [agentId, setAgentId] = useState(() => (url.get('agent') === AUTOPILOT ? AUTOPILOT : ''));
  const [first, setFirst] = useState<string | null>(null);
  const agents = useQuery(trpc.agents_list.queryOptions({ limit: 100, status: 'active' }));
  const create = useMutation(trpc.chat_create_thread.mutationOptions());
  const autopilot = useMutation(trpc.autopilot_chat.mutationOptions());
  const send = useMutation(trpc.chat_send_message.mutationOptions());
  const chosen = agents.data?.agents.find(({ id }) => id === agentId);
  const startThread = async (text: string) => {
    setFirst(text);
    if (agentId === AUTOPILOT) {
      const { thread_id } = await autopilot.mutateAsync({ text, message_id: newMessageId(), when_busy: 'queue' });
      void queries.invalidateQueries(trpc.chat_list_threads.pathFilter());
      return onOpen(thread_id);
    }
    // A thread whose first message was refused is used again.
    const thread = create.data ?? (await create.mutateAsync(agentId === '' ? {} : { agent_id: agentId }));
    await send.mutateAsync({ id: thread.id, text, message_id: newMessageId(), when_busy: 'queue' });
    void queries.invalidateQueries(trpc.chat_list_threads.pathFilter());
    onOpen(thread.id);
  };
  return (
    <div className="mx-auto flex w-full max-w-180 flex-1 flex-col justify-end gap-4 p-4">
      <MissingKey />
      <Field label="Who answers">
        <Select
          value={agentId}
          onChange={next => {
            setAgentId(next);
            create.reset();
          }}
          options={[
            { value: '', label: 'Assistant', hint: 'A model without tools' },
            { value: AUTOPILOT, label: 'Autopilot', hint: 'Builds, explains and repairs workflows' },
            ...(agents.data?.agents.map(({ id, name, model }) => ({ value: id, label: name, hint: model })) ?? []),
          ]}
        />
      </Field>
      {chosen && chosen.starters.length > 0 && first === null ? (
        <div className="flex flex-wrap gap-1">
          {chosen.starters.map(starter => (
            <Button key={starter} size="sm" onClick={() => void startThread(starter)}>
              {starter}
            </Button>
          ))}
        </div>
      ) : null}
      <Composer onSend={startThread} />
    </div>
  );
}
