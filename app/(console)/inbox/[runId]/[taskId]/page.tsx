import { TaskView } from '@/components/inbox/task-view.tsx';

/**
 * The page for links from outside of the console. It only shows the task: a decision is a POST, never the effect of
 * opening a link.
 */
export default async function TaskPage({ params }: { params: Promise<{ runId: string; taskId: string }> }) {
  const { runId, taskId } = await params;
  return <TaskView runId={runId.toLowerCase()} taskId={decodeURIComponent(taskId)} />;
}
