import type { Metadata } from 'next';
import { SettingsHome } from '@/components/settings/settings-home.tsx';

export const metadata: Metadata = { title: 'Settings' };

export default function SettingsPage() {
  return <SettingsHome />;
}
