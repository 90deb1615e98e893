import type { Metadata } from 'next';
import { ConnectionCallback } from '@/components/connections/callback.tsx';

export const metadata: Metadata = { title: 'Connecting' };

export default function ConnectionCallbackPage() {
  return <ConnectionCallback />;
}
