import type { Metadata } from 'next';
import { ChatSettings } from '@/components/chat/chat-settings.tsx';

export const metadata: Metadata = { title: 'Chat settings' };

export default function ChatSettingsPage() {
  return <ChatSettings />;
}
