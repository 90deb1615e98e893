import type { z } from 'zod';
import type { Context } from '../../operation/context.ts';
import { forbidden, invalid, notFound } from '../../platform/errors.ts';
import { findAnswerers } from '../identity/answerer-queries.ts';
import { runScope } from '../runs/access/find.ts';
import { alreadyEnded, mayAnswer } from './complete.ts';
import type { AssignTaskInput, RunTaskSchema } from './schemas.ts';
import { assignPendingTask, findTask } from './store.ts';
import { toRunTask } from './view.ts';
import { readerOf } from './visible-store.ts';

/** The roles that a task can be assigned to; a workflow can name the same roles. */
const ROLES: readonly string[] = ['project_contributor', 'tenant_admin'];

/**
 * Assigns a pending task to other people, or returns it to the people that its workflow names. They may take it back at
 * any time, so that a claimed task does not depend on one person. Throws AppError 404 (no such task), 403
 * `not_assignee`, 409 (the task no longer waits), 422 (one of the people may not answer tasks of the project).
 */
export async function assignTask(
  ctx: Context,
  input: z.output<typeof AssignTaskInput>,
): Promise<z.input<typeof RunTaskSchema>> {
  const { pool, clock } = ctx.services;
  const ref = runScope(ctx, input);
  const reader = readerOf(ctx.principal);
  const task = await findTask(pool, ref, input.task_id, reader);
  if (task === null) throw notFound('Task');
  if (!mayAnswer(ctx.principal, task.assignees) && !mayAnswer(ctx.principal, task.named_assignees)) {
    throw forbidden('This task is assigned to another person.', 'not_assignee');
  }
  if (task.state !== 'pending') throw alreadyEnded(task);
  const to = input.assignees && [...new Set(input.assignees.map(each => each.toLowerCase()))];
  if (to !== null) {
    const people = to.filter(each => !ROLES.includes(each));
    const known = people.length === 0 ? [] : await findAnswerers(pool, ref, people);
    const unknown = people.filter(each => !known.includes(each));
    if (unknown.length > 0) {
      const details = unknown.map(email => ({
        path: 'assignees',
        message: `${email} cannot answer tasks of this project`,
      }));
      throw invalid('Tasks can be assigned only to people who may answer them.', details);
    }
  }
  await assignPendingTask(pool, ref, task.step_id, { to, by: ctx.principal.email, at: new Date(clock.now()) });
  // If the caller may not read the texts of a task, its workflow names no people, so the caller still sees the task.
  const now = await findTask(pool, ref, input.task_id, reader);
  if (now === null) throw notFound('Task');
  if (now.state !== 'pending') throw alreadyEnded(now);
  return toRunTask(now);
}
