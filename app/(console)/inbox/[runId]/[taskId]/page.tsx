import { TaskView } from '@/components/inbox/task-view.tsx';

/** Where links from outside lead. It only shows: deciding is a POST from here (decisions, never by opening a link). */
export default async function TaskPage({ params }: { params: Promise<{ runId: string; taskId: string }> }) {
  const { runId, taskId } = await params;
  return <TaskView runId={runId.toLowerCase()} taskId={decodeURIComponent(taskId)} />;
}
