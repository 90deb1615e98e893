'use client';
import { Button } from '../ui/button.tsx';
import { Skeleton } from '../ui/skeleton.tsx';
import { ErrorState } from '../ui/states.tsx';
import { branchTo } from './branches.ts';
import { Composer } from './composer.tsx';
import { Answer, PersonMessage } from './message.tsx';
import { ThreadCost } from './thread-cost.tsx';
import { ThreadGrants } from './thread-grants.tsx';
import { newMessageId, useThread, useThreadActions } from './use-thread.ts';

type Props = {
  id: string;
  onOpen: (threadId: string) => void;
  /** Called if the thread no longer exists. Without it, an error is shown. */
  onLost?: () => void;
};

/** Shows a conversation: the current branch, the active answer, and the field for the next message. */
export function ThreadView({ id, onOpen, onLost }: Props) {
  const { thread, messages } = useThread(id);
  const actions = useThreadActions(id);
  const error = thread.error ?? messages.error;
  if (error && !messages.data)
    return (
      <div className="flex flex-col items-center">
        <ErrorState error={error} onRetry={() => void Promise.all([thread.refetch(), messages.refetch()])} />
        {onLost === undefined ? null : <Button onClick={onLost}>Start a new one</Button>}
      </div>
    );
  if (!thread.data || !messages.data) return <Skeleton className="m-4 h-40" />;
  const { active_run_id: active, head_id, archived_at } = thread.data;
  const all = messages.data;
  const branch = branchTo(all, head_id);
  const isAutopilot = thread.data.kind === 'autopilot';
  const send = (text: string) => {
    const message = { text, message_id: newMessageId(), when_busy: 'queue' as const };
    return isAutopilot
      ? actions.sendToAutopilot.mutateAsync({ thread_id: id, ...message })
      : actions.send.mutateAsync({ id, ...message });
  };
  return (
    <div className="flex min-h-0 flex-1 flex-col">
      {/* The list is reversed, so that the browser keeps the last line in view unless the reader has scrolled away. */}
      <div className="flex min-h-0 flex-1 flex-col-reverse overflow-y-auto">
        <div className="mx-auto mb-auto flex w-full max-w-180 flex-col gap-4 p-4">
          {branch.map(placed => {
            const { message } = placed;
            const props = { thread: thread.data, messages: all, placed, actions, onOpen };
            return message.role === 'user' ? (
              <PersonMessage key={message.id} {...props} />
            ) : (
              <Answer key={message.id} {...props} />
            );
          })}
        </div>
      </div>
      <ThreadGrants thread={thread.data} />
      <div className="mx-auto flex w-full max-w-180 flex-col gap-2 border-t p-4">
        {isAutopilot ? <ThreadCost branch={branch} /> : null}
        {archived_at === null ? (
          <Composer onSend={send} isBusy={active !== null} onStop={() => actions.stop.mutate({ id })} />
        ) : (
          <p className="text-sm text-muted">The thread is archived.</p>
        )}
      </div>
    </div>
  );
}
