'use client';
import { useMutation } from '@tanstack/react-query';
import { Brain } from 'lucide-react';
import dynamic from 'next/dynamic';
import { useState } from 'react';
import { usePermissions, useSession } from '../session/session.tsx';
import { useTRPC } from '../trpc/provider.tsx';
import { IconButton } from '../ui/button.tsx';
import { branchTo, textOf } from './branches.ts';
import { useThread } from './use-thread.ts';

const ExtractDialog = dynamic(() => import('../memory/extract-dialog.tsx').then(module => module.ExtractDialog), {
  ssr: false,
});
/** The maximum number of stored messages: the last messages of a longer conversation. */
const MAX_TURNS = 500;

/** Stores the displayed branch of the conversation as an episode, and lets a model propose memories from it. */
export function ExtractThread({ id }: { id: string }) {
  const trpc = useTRPC();
  const { me } = useSession();
  const { canWrite } = usePermissions();
  const [open, setOpen] = useState(false);
  const { thread, messages } = useThread(id);
  const index = useMutation(trpc.memory_index_conversation.mutationOptions());
  if (!me.memory || !canWrite || !thread.data || !messages.data) return null;
  const turns = branchTo(messages.data, thread.data.head_id)
    .map(({ message }) => ({ role: message.role, text: textOf(message), occurred_at: message.metadata.created_at }))
    .filter(({ text }) => text.trim() !== '')
    .slice(-MAX_TURNS);
  if (turns.length === 0) return null;
  const { title } = thread.data;
  const episode = async () => {
    const kept = await index.mutateAsync({ thread_id: id, ...(title !== '' && { title }), turns });
    return kept.episode_id;
  };
  return (
    <>
      <IconButton label="Extract memories" size="sm" onClick={() => setOpen(true)}>
        <Brain aria-hidden className="size-3.5" />
      </IconButton>
      {open ? <ExtractDialog what="conversation" episode={episode} onClose={() => setOpen(false)} /> : null}
    </>
  );
}
