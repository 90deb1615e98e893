/** The fields of a notification that make its headline and its link. */
type About = {
  kind: 'task_waiting' | 'run_failed';
  workflow_id: string;
  workflow_name: string | null;
  run_id: string;
  task_id: string | null;
  task_name: string | null;
};

/** Returns the one-line text of a notification. */
export function headlineOf({ kind, workflow_name, task_id, task_name }: About): string {
  const workflow = workflow_name ?? 'a deleted workflow';
  switch (kind) {
    case 'task_waiting':
      return `${task_name ?? task_id} (${workflow}) is waiting for you`;
    case 'run_failed':
      return `A run of ${workflow} failed`;
  }
}

/** Returns the path of the page to which a notification links. */
export function pageOf({ workflow_id, run_id, task_id }: About): string {
  return task_id === null
    ? `/workflows/${workflow_id}/runs/${run_id}`
    : `/inbox/${run_id}/${encodeURIComponent(task_id)}`;
}
