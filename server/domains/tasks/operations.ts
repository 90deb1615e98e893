import { operation } from '../../operation/operation.ts';
import { GRANT_SCOPES } from '../agents/grants/give.ts';
import { assignTask } from './assign.ts';
import { completeTask } from './complete.ts';
import { listAnswered } from './list-answered.ts';
import { listPending } from './list-pending.ts';
import { listAllOfRun, listPendingOfRun } from './list-run.ts';
import {
  AssignTaskInput,
  CompleteTaskInput,
  CompleteTaskOutput,
  ListAnsweredInput,
  ListRunTasksOutput,
  ListTasksInput,
  ListTasksOutput,
  RunTaskSchema,
  RunTasksInput,
} from './schemas.ts';

const tag = 'Human tasks';

/** The operations on human tasks. */
export const taskOperations = [
  operation({
    name: 'tasks_list_pending',
    method: 'GET',
    path: '/v1/tasks/pending',
    status: 200,
    tag,
    summary: 'List the pending tasks, newest first',
    description: `All projects of the tenant that the user is a member of; to a \`tenant_admin\`, all. A token sees what its user sees here,
though it is bound to one project for everything else. \`assignee\` shows only tasks that name this email address or role.`,
    access: 'project_viewer',
    scope: 'workflow:read',
    input: ListTasksInput,
    output: ListTasksOutput,
    mcp: { group: 'core' },
    run: listPending,
  }),
  operation({
    name: 'tasks_list_answered',
    method: 'GET',
    path: '/v1/tasks/answered',
    status: 200,
    tag,
    summary: 'List the answered tasks, the latest answer first',
    description: `Tasks that a person approved or rejected, of the same projects as the pending ones. Tasks that timed out or were withdrawn
are listed by their run only.`,
    access: 'project_viewer',
    scope: 'workflow:read',
    input: ListAnsweredInput,
    output: ListRunTasksOutput,
    run: listAnswered,
  }),
  operation({
    name: 'tasks_list_pending_run',
    method: 'GET',
    path: '/v1/workflows/{id}/runs/{runID}/tasks/pending',
    status: 200,
    tag,
    summary: 'List the pending tasks of one run',
    access: 'project_contributor',
    scope: 'workflow:read',
    input: RunTasksInput,
    output: ListTasksOutput,
    mcp: { group: 'core' },
    run: listPendingOfRun,
  }),
  operation({
    name: 'tasks_list_run',
    method: 'GET',
    path: '/v1/workflows/{id}/runs/{runID}/tasks',
    status: 200,
    tag,
    summary: 'List all tasks of one run with their answers',
    access: 'project_viewer',
    scope: 'workflow:read',
    input: RunTasksInput,
    output: ListRunTasksOutput,
    run: listAllOfRun,
  }),
  operation({
    name: 'tasks_complete',
    method: 'POST',
    path: '/v1/workflows/{id}/runs/{runID}/tasks/{task_id}/complete',
    status: 200,
    tag,
    summary: 'Approve or reject a task',
    description: `\`result\` is checked against the form of the task and merged into the step's result. A rejection without a \`result\` is
always accepted. If the task has assignees, only they and any \`tenant_admin\` may answer. With the approval of a call of an agent, \`grant\`
says that calls of the same tool are no longer asked for; 422 \`grant_not_possible\` for any other task.`,
    scopesWhere: [
      { scope: GRANT_SCOPES.agent, when: '`grant` is for the agent' },
      { scope: GRANT_SCOPES.thread, when: '`grant` is for the conversation' },
    ],
    access: 'project_contributor',
    scope: 'task:complete',
    input: CompleteTaskInput,
    output: CompleteTaskOutput,
    errors: [409, 503],
    mcp: { group: 'core', hints: { destructive: true, openWorld: true } },
    run: completeTask,
  }),
  operation({
    name: 'tasks_assign',
    method: 'POST',
    path: '/v1/workflows/{id}/runs/{runID}/tasks/{task_id}/assign',
    status: 200,
    tag,
    summary: 'Assign a pending task to other people',
    description: `For those who may answer the task, and for those that its workflow names: they can take it back. Those who may answer it now
are notified unless they already were.`,
    access: 'project_contributor',
    scope: 'task:complete',
    input: AssignTaskInput,
    output: RunTaskSchema,
    errors: [409],
    run: assignTask,
  }),
] as const;
