import type { Task } from './use-inbox.ts';

/** The effect of one answer to several tasks: the answered tasks, and those that must be answered one by one. */
export type BulkPlan = { answered: readonly Task[]; left: readonly Task[] };

/** Returns the plan. A rejection needs no form; an approval of a task with a form needs values that only a person can enter. */
export function planBulk(tasks: readonly Task[], approved: boolean): BulkPlan {
  const needsForm = ({ form }: Task) => approved && form !== null;
  return { answered: tasks.filter(task => !needsForm(task)), left: tasks.filter(needsForm) };
}

/** Returns a count with its noun, such as “3 tasks”. */
export const countTasks = (count: number) => `${count} ${count === 1 ? 'task' : 'tasks'}`;
