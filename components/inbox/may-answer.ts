import type { Task } from './use-inbox.ts';

type Person = { user: { email: string }; role: string };

/** Returns true if a person may answer a task, by the server's rule: assignees may, and every `tenant_admin`. */
export function mayAnswer({ assignees }: Pick<Task, 'assignees'>, { user, role }: Person): boolean {
  if (role === 'project_viewer') return false;
  if (assignees.length === 0 || role === 'tenant_admin') return true;
  return assignees.some(who => who.toLowerCase() === user.email || who === role);
}

/** Returns true if a person may assign a task: people who may answer it, and people whom its workflow names. */
export function mayAssign(task: Pick<Task, 'assignees' | 'named_assignees'>, person: Person): boolean {
  return mayAnswer(task, person) || mayAnswer({ assignees: task.named_assignees }, person);
}
