import type { Metadata } from 'next';
import { Notifications } from '@/components/notifications/notifications.tsx';

export const metadata: Metadata = { title: 'Notifications' };

export default function NotificationsPage() {
  return <Notifications />;
}
