import type { Metadata } from 'next';
import { WorkflowPage } from '@/components/editor/workflow-page.tsx';

export const metadata: Metadata = { title: 'Workflow' };

export default async function Page({ params }: { params: Promise<{ id: string }> }) {
  const { id } = await params;
  return <WorkflowPage id={id} />;
}
