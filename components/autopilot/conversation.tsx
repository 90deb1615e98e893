'use client';
import { useMutation, useQueryClient } from '@tanstack/react-query';
import { Plus, X } from 'lucide-react';
import { useState } from 'react';
import { MissingKey } from '../agents/missing-key.tsx';
import { Composer } from '../chat/composer.tsx';
import { ThreadView } from '../chat/thread-view.tsx';
import { newMessageId } from '../chat/use-thread.ts';
import { useTRPC } from '../trpc/provider.tsx';
import { Button, IconButton } from '../ui/button.tsx';
import { useUrlState } from '../ui/use-url-state.ts';
import { keepThread, keptThread } from './kept-thread.ts';
import { isWish, wishes } from './wishes.ts';

/** The conversation with Autopilot about a workflow: the one of this tab, or a new one. */
export function Conversation({ workflowId }: { workflowId: string }) {
  const url = useUrlState();
  const wish = url.get('ask');
  const runId = url.get('about');
  const [thread, setThread] = useState(() => keptThread(workflowId));
  const open = (id: string | null) => {
    keepThread(workflowId, id);
    setThread(id);
    url.set({ ask: undefined, about: undefined });
  };
  if (thread === null || wish !== '')
    return (
      <NewConversation
        key={`${wish} ${runId}`}
        workflowId={workflowId}
        runId={runId}
        initial={isWish(wish) ? wishes[wish].text : ''}
        onOpen={open}
      />
    );
  return (
    <div className="flex h-[68dvh] min-h-0 flex-col lg:h-full">
      <div className="flex justify-end px-2">
        <Button size="sm" variant="ghost" icon={<Plus aria-hidden className="size-3.5" />} onClick={() => open(null)}>
          New conversation
        </Button>
      </div>
      <ThreadView key={thread} id={thread} onOpen={open} onLost={() => open(null)} />
    </div>
  );
}

type Props = { workflowId: string; runId: string; initial: string; onOpen: (thread: string) => void };

/** The first message: what it is about is said with it. */
function NewConversation({ workflowId, runId, initial, onOpen }: Props) {
  const trpc = useTRPC();
  const url = useUrlState();
  const queries = useQueryClient();
  const [text, setText] = useState(initial);
  const chat = useMutation(
    trpc.autopilot_chat.mutationOptions({
      onSuccess: () => queries.invalidateQueries(trpc.chat_list_threads.pathFilter()),
    }),
  );
  const context = { workflow_id: workflowId, ...(runId && { run_id: runId }) };
  const begin = async (message: string) => {
    const { thread_id } = await chat.mutateAsync({
      text: message,
      message_id: newMessageId(),
      context,
      when_busy: 'queue',
    });
    onOpen(thread_id);
  };
  const offered = (Object.keys(wishes) as (keyof typeof wishes)[]).filter(
    name => wishes[name].ofRun === (runId !== ''),
  );
  return (
    <div className="flex flex-col gap-3 p-4">
      <MissingKey />
      <p className="text-sm text-muted">
        Say what the workflow should do, or what is wrong with it. Autopilot proposes changes and tries them; the draft
        changes only when a person applies them.
      </p>
      <div className="flex flex-wrap gap-1">
        {offered.map(name => (
          <Button key={name} size="sm" onClick={() => setText(wishes[name].text)}>
            {wishes[name].label}
          </Button>
        ))}
      </div>
      {runId === '' ? null : (
        <p className="flex items-center gap-1 text-xs text-muted">
          About the run <code className="min-w-0 truncate">{runId}</code>
          <IconButton
            label="Ask about the workflow instead"
            size="sm"
            onClick={() => url.set({ about: undefined, ask: undefined })}
          >
            <X aria-hidden className="size-3.5" />
          </IconButton>
        </p>
      )}
      <Composer key={text} initial={text} label="Message to Autopilot" onSend={begin} />
    </div>
  );
}
