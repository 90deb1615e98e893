import { setTimeout as delay } from 'node:timers/promises';
import { isDeepStrictEqual } from 'node:util';
import { z } from 'zod';
import {
  type Act,
  add,
  all,
  type Check,
  checkWorkflow,
  connect,
  type Goal,
  ofType,
  propose,
  requires,
  setName,
  setOutput,
} from '../goal.ts';

const Started = z.object({ run_id: z.string() });
const State = z.object({ run_complete: z.boolean(), status: z.string(), output: z.unknown().optional() });
const Tasks = z.object({ tasks: z.array(z.looseObject({ task_id: z.string() })) });
const PAUSE_MS = 20;

/** Waits until a run waits for tasks or has ended, and returns the tasks; empty if it has ended. */
async function tasksOf(act: Act, ref: { id: string; runID: string }) {
  for (;;) {
    const { tasks } = Tasks.parse(await act('tasks_list_pending_run', ref));
    if (tasks.length > 0) return tasks;
    if (State.parse(await act('runs_get_summary', ref)).run_complete) return [];
    await delay(PAUSE_MS);
  }
}

type Answer = { approved: boolean; result?: object };

/** Checks that a run with this input asks for one answer at a time, and has this output after these answers. */
const checkTasks = (input: object, answers: readonly Answer[], output?: unknown): Check =>
  all(async ({ act }, { workflowId }) => {
    const id = String(workflowId);
    const { run_id: runID } = Started.parse(await act('workflows_run', { id, params: { trigger_payload: input } }));
    for (const [at, answer] of answers.entries()) {
      const tasks = await tasksOf(act, { id, runID });
      const [task] = tasks;
      if (task === undefined || tasks.length > 1)
        return [`${tasks.length} people are asked, not one (question ${at + 1})`];
      await act('tasks_complete', { id, runID, task_id: task.task_id, ...answer });
    }
    const left = await tasksOf(act, { id, runID });
    if (left.length > 0) return ['somebody is asked once more'];
    const ended = State.parse(await act('runs_get_summary', { id, runID }));
    if (ended.status !== 'completed') return [`it is ${ended.status}`];
    const isRight = output === undefined || isDeepStrictEqual(ended.output, output);
    return isRight ? [] : [`it returns ${JSON.stringify(ended.output)}`];
  });

const person = (id: string, more: object = {}) => ({ id, type: 'human_task', name: id, ...more });

/** Workflows that ask people. */
export const PEOPLE: readonly Goal[] = [
  {
    name: 'approval',
    words:
      'Build a workflow named "Expenses". Its input has a number "amount". Amounts over 100 need the approval of a person; all others need none.',
    check: all(checkTasks({ amount: 100 }, []), checkTasks({ amount: 101 }, [{ approved: true }])),
    solution: propose(
      'Expenses',
      setName('Expenses'),
      add({ id: 'large', type: 'condition', expression: 'input.amount > 100', depends_on: [] }),
      add({ ...person('approve'), name: 'Approve {{input.amount}}', depends_on: [] }),
      connect('large', 'approve', 'then'),
      setOutput({ done: true }, { input_schema: requires({ amount: 'number' }) }),
    ),
  },
  {
    name: 'decision',
    words:
      'Build a workflow named "Decide" that asks one person. Its output is {"decision": "accepted"} if they approve, and {"decision": "declined"} if they reject.',
    check: all(
      checkTasks({}, [{ approved: true }], { decision: 'accepted' }),
      checkTasks({}, [{ approved: false }], { decision: 'declined' }),
    ),
    solution: propose(
      'Decide',
      setName('Decide'),
      add(person('ask')),
      add({
        id: 'word',
        type: 'lua_script',
        script: 'return steps.ask.result.approved and "accepted" or "declined"',
        depends_on: ['ask'],
      }),
      setOutput({ decision: '{{steps.word.result}}' }),
    ),
  },
  {
    name: 'form',
    words:
      'Build a workflow named "Visitor" that asks a person for the name of a visitor: a form with one field "visitor", a text that they have to fill in. Its output is {"visitor": what they entered}.',
    check: all(
      checkTasks({}, [{ approved: true, result: { visitor: 'Ann' } }], { visitor: 'Ann' }),
      checkWorkflow(workflow => {
        const form = z
          .looseObject({ required: z.array(z.string()) })
          .safeParse(ofType(workflow, 'human_task')[0]?.form);
        return !form.data?.required.includes('visitor') && 'the field may be left out';
      }),
    ),
    solution: propose(
      'Visitor',
      setName('Visitor'),
      add(person('ask', { form: requires({ visitor: 'string' }) })),
      setOutput({ visitor: '{{steps.ask.result.visitor}}' }),
    ),
  },
  {
    name: 'two-people',
    words:
      'Build a workflow named "Four eyes": one person after the other has to approve. The second one is only asked when the first one has approved; if the first one rejects, the run ends without asking anybody else.',
    check: all(checkTasks({}, [{ approved: true }, { approved: true }]), checkTasks({}, [{ approved: false }])),
    solution: propose(
      'Four eyes',
      setName('Four eyes'),
      add(person('first')),
      add({ id: 'ok', type: 'condition', expression: 'steps.first.result.approved', depends_on: ['first'] }),
      add(person('second', { depends_on: [] })),
      connect('ok', 'second', 'then'),
    ),
  },
  {
    name: 'time-limit',
    words:
      'Build a workflow named "Silence is consent": a person has one day to object. If they do not answer in that time, it counts as approved.',
    check: checkWorkflow(workflow => {
      const [task] = ofType(workflow, 'human_task');
      return (task?.timeout_s !== 86_400 || task.on_timeout !== 'approve') && 'silence is no consent after a day';
    }),
    solution: propose(
      'Silence is consent',
      setName('Silence is consent'),
      add(person('object', { timeout_s: 86_400, on_timeout: 'approve' })),
    ),
  },
  {
    name: 'assignee',
    words: 'Build a workflow named "Ask Ann" in which only ann@example.com can approve.',
    check: checkWorkflow(workflow => {
      const assignees = ofType(workflow, 'human_task')[0]?.assignees;
      return !isDeepStrictEqual(assignees, ['ann@example.com']) && 'others may approve as well';
    }),
    solution: propose('Ask Ann', setName('Ask Ann'), add(person('ask', { assignees: ['ann@example.com'] }))),
  },
];
