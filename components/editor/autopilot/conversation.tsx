'use client';
import { useMutation, useQueryClient } from '@tanstack/react-query';
import { Plus, X } from 'lucide-react';
import { useState } from 'react';
import { Composer } from '../../chat/composer.tsx';
import { ThreadView } from '../../chat/thread-view.tsx';
import { newMessageId, useThread } from '../../chat/use-thread.ts';
import { MissingKey } from '../../models/missing-key.tsx';
import { autopilotRequests, isAutopilotRequest } from '../../runs/autopilot-request.ts';
import { useTRPC } from '../../trpc/provider.tsx';
import { Button, IconButton } from '../../ui/button.tsx';
import { useUrlState } from '../../ui/use-url-state.ts';
import { keepThread, keptThread } from './kept-thread.ts';
import type { Target } from './proposal-actions.tsx';
import { Restore } from './restore.tsx';
import { useDrawnProposal, useThreadProposals } from './use-thread-proposals.ts';

type ConversationProps = { workflowId: string; target: Target; editable: boolean };

/** The conversation with Autopilot about a workflow: the open conversation of this tab, or a new one. */
export function Conversation({ workflowId, ...draft }: ConversationProps) {
  const url = useUrlState();
  const request = url.get('ask');
  const runId = url.get('about');
  const [{ thread, isNew }, setThread] = useState(() => ({ thread: keptThread(workflowId), isNew: false }));
  const open = (id: string | null, startsNow = false) => {
    keepThread(workflowId, id);
    setThread({ thread: id, isNew: startsNow });
    url.set({ ask: undefined, about: undefined, drawn: undefined });
  };
  if (thread === null || request !== '')
    return (
      <NewConversation
        key={`${request} ${runId}`}
        workflowId={workflowId}
        runId={runId}
        initial={isAutopilotRequest(request) ? autopilotRequests[request].text : ''}
        onOpen={id => open(id, true)}
      />
    );
  return <Ongoing key={thread} workflowId={workflowId} thread={thread} isNew={isNew} onOpen={open} {...draft} />;
}

type OngoingProps = ConversationProps & {
  thread: string;
  /** Whether the first message was sent on this page. */
  isNew: boolean;
  onOpen: (thread: string | null) => void;
};

/** An existing conversation. Its newest proposal is drawn on the graph. */
function Ongoing({ workflowId, thread: id, isNew, target, editable, onOpen }: OngoingProps) {
  const { thread, messages } = useThread(id);
  const proposals = useThreadProposals(workflowId, thread.data);
  useDrawnProposal(proposals, isNew);
  return (
    <div className="flex h-[68dvh] min-h-0 flex-col lg:h-full">
      <div className="flex flex-wrap justify-end px-2">
        {editable ? <Restore messages={messages.data ?? []} proposals={proposals ?? []} target={target} /> : null}
        <Button size="sm" variant="ghost" icon={<Plus aria-hidden className="size-3.5" />} onClick={() => onOpen(null)}>
          New conversation
        </Button>
      </div>
      <ThreadView key={id} id={id} onOpen={onOpen} onLost={() => onOpen(null)} />
    </div>
  );
}

type Props = { workflowId: string; runId: string; initial: string; onOpen: (thread: string) => void };

/** The form for the first message, which includes the context. */
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
  const startConversation = async (message: string) => {
    const { thread_id } = await chat.mutateAsync({
      text: message,
      message_id: newMessageId(),
      context,
      when_busy: 'queue',
    });
    onOpen(thread_id);
  };
  const requestNames = (Object.keys(autopilotRequests) as (keyof typeof autopilotRequests)[]).filter(
    name => autopilotRequests[name].ofRun === (runId !== ''),
  );
  return (
    <div className="flex flex-col gap-3 p-4">
      <MissingKey />
      <p className="text-sm text-muted">
        Describe what the workflow should do, or what is wrong with it. Autopilot proposes changes and tests them. The
        draft changes only when a person applies them.
      </p>
      <div className="flex flex-wrap gap-1">
        {requestNames.map(name => (
          <Button key={name} size="sm" onClick={() => setText(autopilotRequests[name].text)}>
            {autopilotRequests[name].label}
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
      <Composer key={text} initial={text} label="Message Autopilot" onSend={startConversation} />
    </div>
  );
}
