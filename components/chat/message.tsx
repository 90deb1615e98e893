'use client';
import { ChevronLeft, ChevronRight, GitFork, Pencil, RefreshCw } from 'lucide-react';
import { type ReactNode, useState } from 'react';
import { IconButton } from '../ui/button.tsx';
import { CopyButton } from '../ui/copy.tsx';
import { AnswerParts } from './answer-parts.tsx';
import { leafBelow, type Message, type Placed, textOf } from './branches.ts';
import { Composer } from './composer.tsx';
import { ContextNote } from './data-parts.tsx';
import { LiveAnswer } from './live-answer.tsx';
import { MentionsText } from './mentions-text.tsx';
import type { Part } from './parts.ts';
import { newMessageId, type Thread, type useThreadActions } from './use-thread.ts';
import { useVisible } from './use-visible.ts';

type Props = {
  thread: Thread;
  messages: readonly Message[];
  placed: Placed;
  actions: ReturnType<typeof useThreadActions>;
  /** Opens a forked thread. */
  onOpen: (threadId: string) => void;
};

/** Shows a person's message. Editing it sends another message in its place, which starts a branch. */
export function PersonMessage(props: Props) {
  const { thread, placed, actions } = props;
  const [editing, setEditing] = useState(false);
  const { message } = placed;
  const text = textOf(message);
  const edit = async (next: string) => {
    const { parent_id } = message.metadata;
    await actions.send.mutateAsync({
      id: thread.id,
      text: next,
      message_id: newMessageId(),
      parent_id,
      when_busy: 'queue',
    });
    setEditing(false);
  };
  return (
    <article aria-label={`Message from ${message.metadata.sent_by}`} className="group flex flex-col gap-1">
      {editing ? (
        <Composer
          label="Edited message"
          initial={text}
          action="Send"
          onSend={edit}
          onCancel={() => setEditing(false)}
        />
      ) : (
        <p className="rounded-md bg-hover px-3 py-2 text-sm whitespace-pre-wrap wrap-anywhere">
          <MentionsText text={text} />
        </p>
      )}
      {message.parts.map(part =>
        part.type === 'data-context' ? <ContextNote key={part.type} data={part.data} /> : null,
      )}
      <Tools {...props}>
        {thread.archived_at === null && !editing ? (
          <IconButton label="Edit the message" size="sm" onClick={() => setEditing(true)}>
            <Pencil aria-hidden className="size-3.5" />
          </IconButton>
        ) : null}
      </Tools>
    </article>
  );
}

const statusNotes: Partial<Record<Message['metadata']['status'], string>> = {
  stopped: 'Stopped',
  queued: 'Waiting for the previous answer',
  withdrawn: 'Stopped before it started',
};

/** Shows an answer, stored or streamed, in the same elements. */
export function Answer(props: Props) {
  const { thread, placed, actions } = props;
  const { id, parts, metadata } = placed.message;
  const [live, setLive] = useState<readonly Part[]>([]);
  const isVisible = useVisible();
  const isRunning = metadata.status === 'running';
  const note = statusNotes[metadata.status];
  const questionId = metadata.parent_id;
  return (
    <article aria-label="Answer" aria-busy={isRunning} className="group flex flex-col gap-1">
      <div aria-live="polite">
        <AnswerParts parts={parts.length > 0 ? parts : live} workflowId={thread.workflow_id} runId={id} />
      </div>
      {isRunning && isVisible ? <LiveAnswer threadId={thread.id} runId={id} onParts={setLive} /> : null}
      {metadata.error ? (
        <p
          role="alert"
          className="rounded-md border border-bad/40 bg-bad-soft px-3 py-2 text-sm wrap-anywhere text-bad"
        >
          {metadata.error.message}
        </p>
      ) : null}
      {note ? <p className="text-xs text-muted">{note}</p> : null}
      <Tools {...props}>
        {questionId !== null && thread.archived_at === null && !isRunning ? (
          <IconButton
            label="Regenerate"
            size="sm"
            onClick={() =>
              actions.regenerate.mutate({
                id: thread.id,
                message_id: questionId,
                request_id: newMessageId(),
                when_busy: 'queue',
              })
            }
          >
            <RefreshCw aria-hidden className="size-3.5" />
          </IconButton>
        ) : null}
      </Tools>
    </article>
  );
}

/** Shows the actions on a message: copy, fork, other branches, and the given actions. */
function Tools({ thread, messages, placed, actions, onOpen, children }: Props & { children: ReactNode }) {
  const { message, siblings, index } = placed;
  const show = (at: number) => {
    const sibling = siblings[at];
    if (sibling) actions.patch.mutate({ id: thread.id, head_id: leafBelow(messages, sibling.id) });
  };
  const fork = () =>
    actions.fork.mutate({ id: thread.id, message_id: message.id }, { onSuccess: ({ id }) => onOpen(id) });
  return (
    <div className="flex items-center gap-1 text-xs text-muted">
      {siblings.length > 1 ? (
        <>
          <IconButton
            label="Show the previous version"
            size="sm"
            disabled={index === 0}
            onClick={() => show(index - 1)}
          >
            <ChevronLeft aria-hidden className="size-3.5" />
          </IconButton>
          <span className="tabular-nums">
            {index + 1} of {siblings.length}
          </span>
          <IconButton
            label="Show the next version"
            size="sm"
            disabled={index === siblings.length - 1}
            onClick={() => show(index + 1)}
          >
            <ChevronRight aria-hidden className="size-3.5" />
          </IconButton>
        </>
      ) : null}
      <CopyButton text={textOf(message)} label={message.role === 'user' ? 'Copy the message' : 'Copy the answer'} />
      {children}
      {message.role === 'assistant' ? (
        <IconButton label="Continue in a new thread from here" size="sm" onClick={fork}>
          <GitFork aria-hidden className="size-3.5" />
        </IconButton>
      ) : null}
    </div>
  );
}
