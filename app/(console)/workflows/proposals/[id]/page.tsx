import type { Metadata } from 'next';
import { NewWorkflowProposal } from '@/components/editor/autopilot/new-workflow-proposal.tsx';

export const metadata: Metadata = { title: 'Proposal' };

export default async function Page({ params }: { params: Promise<{ id: string }> }) {
  return <NewWorkflowProposal id={(await params).id} />;
}
