import { describe, expect, test } from 'vitest';
import { countTasks, planBulk } from './bulk-plan.ts';
import { mayAnswer } from './may-answer.ts';
import type { Task } from './use-inbox.ts';

const task = (task_id: string, form: Task['form'] = null) => ({ task_id, form }) as Task;
const tasks = [task('plain'), task('form', { type: 'object' })];
const ids = (list: readonly Task[]) => list.map(({ task_id }) => task_id);

test('an approval skips tasks with a form, a rejection does not', () => {
  const approval = planBulk(tasks, true);
  expect([ids(approval.answered), ids(approval.left)]).toEqual([['plain'], ['form']]);
  const rejection = planBulk(tasks, false);
  expect([ids(rejection.answered), ids(rejection.left)]).toEqual([['plain', 'form'], []]);
});

test('tasks are counted in words', () => {
  expect([countTasks(1), countTasks(2)]).toEqual(['1 task', '2 tasks']);
});

describe('who may answer', () => {
  test.each<[string[], string, boolean]>([
    [[], 'project_contributor', true],
    [[], 'project_viewer', false],
    [['me@y.z'], 'project_viewer', false],
    [['ME@y.z'], 'project_contributor', true],
    [['other@y.z'], 'project_contributor', false],
    [['project_contributor'], 'project_contributor', true],
    [['other@y.z'], 'tenant_admin', true],
  ])('%j with the role %s: %s', (assignees, role, allowed) => {
    expect(mayAnswer({ assignees }, { user: { email: 'me@y.z' }, role })).toBe(allowed);
  });
});
