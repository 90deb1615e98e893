import type { Metadata } from 'next';
import { RunFeed } from '@/components/run-feed/run-feed.tsx';

export const metadata: Metadata = { title: 'Runs' };

export default function RunsPage() {
  return <RunFeed />;
}
