import type { AuditedRun } from '../auditor.ts';
import { Violation } from './violation.ts';

/**
 * Checks that the inbox contains exactly the tasks that were ever asked, each in the state that follows from the log.
 */
export function checkInbox(run: AuditedRun): void {
  const { tasks } = run.stored;
  let askedCount = 0;
  for (const [step, { asked: task, answer, end }] of run.history.steps) {
    if (task === null) continue;
    askedCount += 1;
    const row = tasks.get(step);
    const state =
      answer !== null
        ? answer.timed_out
          ? 'timed_out'
          : 'completed'
        : end === null
          ? 'pending'
          : end.type === 'step_failed'
            ? 'timed_out'
            : 'cancelled';
    const fits = row?.state === state && row.completedBy === (answer?.completed_by ?? null);
    if (!fits || row.approved !== (answer?.approved ?? null) || row.asked.dueAt !== task.dueAt)
      throw new Violation(
        'inbox',
        `the task "${step}" of ${run.id} is ${JSON.stringify(row)}, but by the log ${state}`,
      );
    if ((row.completedAt === null) !== (state === 'pending'))
      throw new Violation('inbox', `the task "${step}" of ${run.id} is ${state}, completed at ${row.completedAt}`);
  }
  if (tasks.size !== askedCount)
    throw new Violation('inbox', `${run.id} has ${tasks.size} tasks, but ${askedCount} were asked`);
}
