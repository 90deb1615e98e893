import type { Metadata } from 'next';
import type { ReactNode } from 'react';
import { pendingTasksInput, readFilter } from '@/components/inbox/inbox-filter.ts';
import { InboxFrame } from '@/components/inbox/inbox-frame.tsx';
import { loadMeIfAny, requestedParams } from '../load-me.ts';
import { readFirst } from '../read-first.ts';

export const metadata: Metadata = { title: 'Inbox' };

export default async function InboxLayout({ children }: { children: ReactNode }) {
  const { me } = await loadMeIfAny();
  const filter = readFilter(await requestedParams());
  const isListed = me !== null && filter.view === 'waiting';
  const first = isListed ? await readFirst('tasks_list_pending', pendingTasksInput(filter, me.user.email)) : null;
  return <InboxFrame first={first}>{children}</InboxFrame>;
}
