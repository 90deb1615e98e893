import type { Metadata } from 'next';
import { workflowListInput } from '@/components/workflows/list-input.ts';
import { WorkflowList } from '@/components/workflows/workflow-list.tsx';
import { readerOf, readFirst } from '../read-first.ts';

export const metadata: Metadata = { title: 'Workflows' };

type Props = { searchParams: Promise<Record<string, string | string[] | undefined>> };

export default async function WorkflowsPage({ searchParams }: Props) {
  const input = workflowListInput(readerOf(await searchParams));
  const [first, folders] = await Promise.all([
    readFirst('workflows_list', input),
    readFirst('workflows_list_folders', {}),
  ]);
  return <WorkflowList first={first} folders={folders} />;
}
