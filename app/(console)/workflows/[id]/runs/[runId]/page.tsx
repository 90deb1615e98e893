import type { Metadata } from 'next';
import { RunPage } from '@/components/runs/run-page.tsx';
import { readRunFirst } from '../../../../read-first.ts';

export const metadata: Metadata = { title: 'Run' };

export default async function Page({ params }: { params: Promise<{ id: string; runId: string }> }) {
  const { id, runId } = await params;
  return <RunPage workflowId={id} runId={runId} first={await readRunFirst(id, runId)} />;
}
