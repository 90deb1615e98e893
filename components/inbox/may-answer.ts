import type { Task } from './use-inbox.ts';

type Person = { user: { email: string }; role: string };

/** Whether a person may answer a task, as the server decides it: those it names, and always a `tenant_admin`. */
export function mayAnswer({ assignees }: Pick<Task, 'assignees'>, { user, role }: Person): boolean {
  if (role === 'project_viewer') return false;
  if (assignees.length === 0 || role === 'tenant_admin') return true;
  return assignees.some(who => who.toLowerCase() === user.email || who === role);
}

/** Whether a person may assign a task: those who may answer it, and those that its workflow names. */
export function mayAssign(task: Pick<Task, 'assignees' | 'named_assignees'>, person: Person): boolean {
  return mayAnswer(task, person) || mayAnswer({ assignees: task.named_assignees }, person);
}
