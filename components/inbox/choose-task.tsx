'use client';
import { Kbd } from '../ui/kbd.tsx';
import { useInbox, useInboxFilter } from './use-inbox.ts';

/** Beside the list while no task is chosen. */
export function ChooseTask() {
  const { data } = useInbox();
  const { view } = useInboxFilter();
  if (view === 'answered') return null;
  if (!data || data.tasks.length === 0) return null;
  return (
    <p className="flex h-full items-center justify-center gap-1 text-sm text-muted">
      Choose a task, or press <Kbd>j</Kbd>
    </p>
  );
}
