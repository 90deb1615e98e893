import type { Metadata } from 'next';
import { ProposalsPage } from '@/components/editor/autopilot/proposals-page.tsx';

export const metadata: Metadata = { title: 'Proposals' };

export default function Page() {
  return <ProposalsPage />;
}
