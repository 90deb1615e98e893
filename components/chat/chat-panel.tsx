'use client';
import { Maximize2, Plus, X } from 'lucide-react';
import { useRouter } from 'next/navigation';
import { useState } from 'react';
import { IconButton } from '../ui/button.tsx';
import { NewThread } from './new-thread.tsx';
import { ThreadView } from './thread-view.tsx';

/** The chat panel beside any page. It keeps its state when the page changes. */
export function ChatPanel({ open, onClose }: { open: boolean; onClose: () => void }) {
  const router = useRouter();
  const [id, setId] = useState<string | null>(null);
  if (!open) return null;
  return (
    <aside
      aria-label="Chat"
      className="fixed inset-y-0 right-0 z-40 flex w-full flex-col border-l bg-bg shadow-pop sm:w-110"
    >
      <header className="flex h-12 shrink-0 items-center gap-1 border-b px-3">
        <h2 className="flex-1 text-base font-semibold">Chat</h2>
        <IconButton label="New thread" size="sm" onClick={() => setId(null)}>
          <Plus aria-hidden className="size-4" />
        </IconButton>
        <IconButton
          label="Open as a page"
          size="sm"
          onClick={() => {
            onClose();
            router.push(id === null ? '/chat' : `/chat/${id}`);
          }}
        >
          <Maximize2 aria-hidden className="size-3.5" />
        </IconButton>
        <IconButton label="Close the chat" size="sm" onClick={onClose}>
          <X aria-hidden className="size-4" />
        </IconButton>
      </header>
      {id === null ? <NewThread onOpen={setId} /> : <ThreadView key={id} id={id} onOpen={setId} />}
    </aside>
  );
}
