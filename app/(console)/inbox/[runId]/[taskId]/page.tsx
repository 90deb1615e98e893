import { TaskView } from '@/components/inbox/task-view.tsx';

/** The page to which links from outside lead. It only shows the task: decisions are POSTs, never the effect of opening a link. */
export default async function TaskPage({ params }: { params: Promise<{ runId: string; taskId: string }> }) {
  const { runId, taskId } = await params;
  return <TaskView runId={runId.toLowerCase()} taskId={decodeURIComponent(taskId)} />;
}
