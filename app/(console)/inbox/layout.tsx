import type { Metadata } from 'next';
import type { ReactNode } from 'react';
import { InboxFrame } from '@/components/inbox/inbox-frame.tsx';

export const metadata: Metadata = { title: 'Inbox' };

export default function InboxLayout({ children }: { children: ReactNode }) {
  return <InboxFrame>{children}</InboxFrame>;
}
