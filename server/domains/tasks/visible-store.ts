import type { Principal } from '../../operation/context.ts';
import { closedThread, isDecidable } from '../runs/access/store.ts';

/** The person who reads tasks. */
export type TaskReader = { userId: string; email: string; isAdmin: boolean };

export const readerOf = ({ userId, email, role }: Principal): TaskReader => ({
  userId,
  email,
  isAdmin: role === 'tenant_admin',
});

/** The parameters of `visibleTasks`, in their order. */
export const readerValues = ({ userId, email, isAdmin }: TaskReader): [string, string, boolean] => [
  userId,
  email.toLowerCase(),
  isAdmin,
];

/**
 * SQL: the tasks that a person sees, as `t`, with their workflow `w`. Only the owner of a private thread may read the
 * texts of its runs' tasks. Other people who may answer a task see what they need to decide, as long as the task waits;
 * they see nothing of a question to the owner. Nobody sees a task of a deleted thread (docs/chat.md). `first`: the
 * number of the first of three parameters. Every statement that shows a task reads from this.
 */
export function visibleTasks(first: number): {
  from: string;
  where: string;
  whereAnswerable: string;
  instructions: string;
} {
  const [user, email, isAdmin] = [`$${first}::uuid`, `$${first + 1}::text`, `$${first + 2}::boolean`];
  const closed = closedThread({ run: 't.run_id', tenant: 't.tenant_id', user });
  const mayAnswer = `(${isAdmin} OR EXISTS (SELECT FROM project_members pm
        WHERE pm.project_id = t.project_id AND pm.user_id = ${user} AND pm.role = 'project_contributor'
          AND (cardinality(coalesce(t.assigned_to, t.assignees)) = 0
               OR EXISTS (SELECT FROM unnest(coalesce(t.assigned_to, t.assignees) || t.assignees) a WHERE lower(a) IN (${email}, 'project_contributor')))))`;
  const answerable = `NOT closed.is_deleted AND ${isDecidable('t')} AND ${mayAnswer}`;
  return {
    // A run of a workflow of the usual kind answers no message by itself.
    from: `human_tasks t JOIN workflows w ON w.id = t.workflow_id
      LEFT JOIN LATERAL (${closed}
        AND (w.kind <> 'workflow' OR EXISTS (SELECT FROM child_runs called WHERE called.run_id = t.run_id))) closed ON true`,
    // As a CASE, because the planner assumes that it matches half of the rows. For a condition that it considers rare,
    // the planner would scan all tasks.
    where: `CASE WHEN closed.is_deleted IS NULL THEN true ELSE t.state = 'pending' AND ${answerable} END`,
    whereAnswerable: `CASE WHEN closed.is_deleted IS NULL THEN true ELSE ${answerable} END`,
    instructions: `CASE WHEN closed.is_deleted IS NULL THEN t.instructions ELSE coalesce(t.to_decide, t.instructions) END`,
  };
}
