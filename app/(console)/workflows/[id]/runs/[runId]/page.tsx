import type { Metadata } from 'next';
import { RunPage } from '@/components/runs/run-page.tsx';
import { readFirst } from '../../../../read-first.ts';

export const metadata: Metadata = { title: 'Run' };

export default async function Page({ params }: { params: Promise<{ id: string; runId: string }> }) {
  const { id, runId } = await params;
  const snapshot = await readFirst('runs_get_snapshot', { id, runID: runId });
  const version = snapshot && (await readFirst('workflows_get_version', { id, version: snapshot.data.version }));
  return <RunPage workflowId={id} runId={runId} first={{ snapshot, version }} />;
}
