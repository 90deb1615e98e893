import type { Metadata } from 'next';
import { ChatPage } from '@/components/chat/chat-page.tsx';

export const metadata: Metadata = { title: 'Chat' };

export default async function Page({ params }: { params: Promise<{ id: string }> }) {
  const { id } = await params;
  return <ChatPage id={id} />;
}
