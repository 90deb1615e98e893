import type { Metadata } from 'next';
import { cache } from 'react';
import { RunPage } from '@/components/runs/run-page.tsx';
import { readRunFirst } from '../../../../read-first.ts';

type Props = { params: Promise<{ id: string; runId: string }> };

/** The title of the page and the page need the same data. */
const readOnce = cache(readRunFirst);

export async function generateMetadata({ params }: Props): Promise<Metadata> {
  const { id, runId } = await params;
  const { snapshot } = await readOnce(id, runId);
  return { title: snapshot === null ? 'Run' : `Run of ${snapshot.data.workflow_name}` };
}

export default async function Page({ params }: Props) {
  const { id, runId } = await params;
  return <RunPage workflowId={id} runId={runId} first={await readOnce(id, runId)} />;
}
