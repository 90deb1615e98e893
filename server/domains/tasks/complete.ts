import type { z } from 'zod';
import type { Context, Principal } from '../../operation/context.ts';
import type { JsonMap } from '../../orchestrator/core/index.ts';
import { isoTimestamp } from '../../platform/clock.ts';
import { AppError, conflict, forbidden, invalid, notFound } from '../../platform/errors.ts';
import { prepareGrant } from '../agents/grants/give.ts';
import { runScope } from '../runs/access/find.ts';
import { checkAnswer } from './check-answer.ts';
import type { CompleteTaskInput, CompleteTaskOutput } from './schemas.ts';
import { findTask, type TaskRow } from './store.ts';
import { readerOf } from './visible-store.ts';

/**
 * Answers a human task. Throws AppError 404 (no such task), 403 `not_assignee`, 409 `task_already_completed` (naming
 * who answered and when) or `task_not_pending`, 422 (the result does not fit the task; `grant_not_possible`). A grant
 * takes effect from the next turn on. If the service ends before that, only the call is approved.
 */
export async function completeTask(
  ctx: Context,
  input: z.output<typeof CompleteTaskInput>,
): Promise<z.input<typeof CompleteTaskOutput>> {
  const { pool, orchestrator } = ctx.services;
  const ref = runScope(ctx, input);
  const reader = readerOf(ctx.principal);
  const task = await findTask(pool, ref, input.task_id, reader);
  if (task === null) throw notFound('Task');
  if (!mayAnswer(ctx.principal, task.assignees)) {
    throw forbidden('This task is assigned to another person.', 'not_assignee');
  }
  if (task.state !== 'pending') throw alreadyEnded(task);
  const { approved } = input;
  const result = await checkAnswer(ctx, task, { approved, result: input.result as JsonMap | undefined });
  const give = await grantOf(ctx, task, input);
  try {
    const answer = { step: task.step_id, approved, result, by: ctx.principal.email };
    await orchestrator.completeTask(ref, answer);
  } catch (error) {
    if (!(error instanceof AppError) || error.status !== 409) throw error;
    // A concurrent caller answered first; the error names that person.
    const now = await findTask(pool, ref, input.task_id, reader);
    throw now === null || now.state === 'pending' ? error : alreadyEnded(now);
  }
  const grant_id = await give?.();
  return { status: 'completed', task_id: task.step_id, approved, ...(grant_id && { grant_id }) };
}

function grantOf(ctx: Context, task: TaskRow, { grant, approved }: z.output<typeof CompleteTaskInput>) {
  if (grant === undefined) return undefined;
  if (!approved)
    throw invalid('A grant can be given only with an approval.', [
      { path: 'grant', message: 'is allowed only with an approval' },
    ]);
  return prepareGrant(ctx, { runId: task.run_id, step: task.step_id }, grant);
}

/**
 * Returns whether the caller may answer. A tenant_admin always may. A task without assignees may be answered by any
 * contributor, and other tasks by the people that are named by email or by role.
 */
export function mayAnswer(principal: Pick<Principal, 'email' | 'role'>, assignees: readonly string[]): boolean {
  if (assignees.length === 0 || principal.role === 'tenant_admin') return true;
  return assignees.some(assignee => {
    const named = assignee.toLowerCase();
    return named === principal.email || (named === 'project_contributor' && principal.role === 'project_contributor');
  });
}

/** Returns the error for a task that is no longer pending, with its outcome. */
export function alreadyEnded(task: TaskRow): AppError {
  const at = task.completed_at === null ? '' : ` at ${isoTimestamp(task.completed_at.getTime())}`;
  switch (task.state) {
    case 'completed':
      return conflict(
        'task_already_completed',
        `The task was already answered by ${task.completed_by ?? 'nobody'}${at}.`,
      );
    case 'timed_out':
      return conflict('task_not_pending', `The task timed out${at}.`);
    case 'cancelled':
    case 'pending':
      return conflict('task_not_pending', 'The task is no longer pending: its run has ended.');
  }
}
