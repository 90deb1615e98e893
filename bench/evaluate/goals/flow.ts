import {
  add,
  all,
  answerText,
  call,
  checkOutputs,
  checkWorkflow,
  connect,
  type Goal,
  lua,
  ofType,
  propose,
  publish,
  setName,
  setOutput,
} from '../goal.ts';

const condition = (id: string, expression: string, ...depends_on: string[]) => ({
  id,
  type: 'condition',
  expression,
  depends_on,
});

/** Workflows that branch, repeat, wait, and call others. */
export const FLOW: readonly Goal[] = [
  {
    name: 'shipping',
    words:
      'Build a workflow named "Shipping" with a condition. Its input has a number "amount". From 50 on, the step "free" runs and returns 0; below it the step "paid" runs and returns 5. Only one of them runs. The output is {"free": the result of "free", "paid": the result of "paid"}, where the one that did not run is null.',
    check: all(
      checkOutputs([{ amount: 50 }, { free: 0, paid: null }], [{ amount: 49 }, { free: null, paid: 5 }]),
      checkWorkflow(workflow => ofType(workflow, 'condition').length === 0 && 'there is no condition'),
    ),
    solution: propose(
      'Shipping',
      setName('Shipping'),
      add(condition('large', 'input.amount >= 50')),
      add(lua('free', 'return 0')),
      add(lua('paid', 'return 5')),
      connect('large', 'free', 'then'),
      connect('large', 'paid', 'else'),
      setOutput({ free: '{{steps.free.result}}', paid: '{{steps.paid.result}}' }),
    ),
  },
  {
    name: 'grades',
    words:
      'Build a workflow named "Grades". Its input has a number "points". Its output is {"grade": "A"} from 90 points on, {"grade": "B"} from 75 on, and {"grade": "C"} below.',
    check: checkOutputs(
      [{ points: 90 }, { grade: 'A' }],
      [{ points: 89 }, { grade: 'B' }],
      [{ points: 75 }, { grade: 'B' }],
      [{ points: 74 }, { grade: 'C' }],
    ),
    solution: propose(
      'Grades',
      setName('Grades'),
      add(lua('grade', 'return input.points >= 90 and "A" or input.points >= 75 and "B" or "C"')),
      setOutput({ grade: '{{steps.grade.result}}' }),
    ),
  },
  {
    name: 'refuses',
    words:
      'Build a workflow named "Withdraw". Its input has the numbers "balance" and "amount". If the amount is larger than the balance, the run has to fail. Otherwise its output is {"left": what is left}.',
    check: all(checkOutputs([{ balance: 10, amount: 10 }, { left: 0 }]), async (world, outcome) => {
      const problems = await checkOutputs([{ balance: 10, amount: 11 }, { left: -1 }])(world, outcome);
      return problems.some(problem => problem.includes('it is failed')) ? [] : ['it pays more than there is'];
    }),
    solution: propose(
      'Withdraw',
      setName('Withdraw'),
      add({ ...condition('covered', 'input.amount <= input.balance'), mode: 'validate', message: 'Too little.' }),
      add(lua('pay', 'return input.balance - input.amount', 'covered')),
      setOutput({ left: '{{steps.pay.result}}' }),
    ),
  },
  {
    name: 'loop',
    words:
      'Build a workflow named "Doubles" with a loop (for_each) over the list "numbers" of its input: each item is a step of its own, which returns twice the number. The output is {"doubles": the list of these results}.',
    check: all(
      checkOutputs([{ numbers: [1, 2, 3] }, { doubles: [2, 4, 6] }], [{ numbers: [] }, { doubles: [] }]),
      checkWorkflow(workflow => ofType(workflow, 'for_each').length === 0 && 'there is no loop'),
    ),
    solution: propose(
      'Doubles',
      setName('Doubles'),
      add({ id: 'each', type: 'for_each', items: '{{input.numbers}}', steps: [lua('double', 'return item * 2')] }),
      setOutput({ doubles: '{{steps.each.result.results}}' }),
    ),
  },
  {
    name: 'loop-goes-on',
    words:
      'Build a workflow named "Quotients" with a loop (for_each) over the list "numbers" of its input. Each item returns 12 divided by the number, and fails for 0. A failed item must not stop the others or fail the run. The output is {"failed": how many items failed}.',
    check: checkOutputs([{ numbers: [1, 0, 3, 0] }, { failed: 2 }], [{ numbers: [2] }, { failed: 0 }]),
    solution: propose(
      'Quotients',
      setName('Quotients'),
      add({
        id: 'each',
        type: 'for_each',
        items: '{{input.numbers}}',
        on_item_error: 'continue',
        steps: [lua('divide', 'if item == 0 then error("zero") end\nreturn 12 / item')],
      }),
      setOutput({ failed: '{{steps.each.result.failed}}' }),
    ),
  },
  {
    name: 'child',
    words:
      'There is a workflow "Triple a number" in this project. Build a workflow named "Nine times" that calls it twice, one call after the other, and returns {"result": nine times the number "n" of its input}.',
    async prepare({ act }) {
      const graph = { steps: [lua('triple', 'return input.n * 3')], output: { n: '{{steps.triple.result}}' } };
      return { workflow_id: await publish(act, 'Triple a number', graph) };
    },
    check: all(
      checkOutputs([{ n: 2 }, { result: 18 }]),
      checkWorkflow(
        workflow => ofType(workflow, 'call_workflow').length !== 2 && 'it does not call the workflow twice',
      ),
    ),
    solution: [
      call('workflows_list', { q: 'Triple a number' }),
      call('autopilot_propose', {
        title: 'Nine times',
        edits: [
          setName('Nine times'),
          add({
            id: 'once',
            type: 'call_workflow',
            workflow_id: '{{last.workflows.0.id}}',
            input: { n: '{{input.n}}' },
          }),
          add({
            id: 'twice',
            type: 'call_workflow',
            workflow_id: '{{last.workflows.0.id}}',
            input: { n: '{{steps.once.result.n}}' },
            depends_on: ['once'],
          }),
          setOutput({ result: '{{steps.twice.result.n}}' }),
        ],
      }),
      answerText('I propose two calls.'),
    ],
  },
  {
    name: 'wait',
    words:
      'Build a workflow named "Remind later": it waits for two days, and then a person confirms that they were reminded.',
    check: checkWorkflow(workflow => {
      const [wait] = ofType(workflow, 'wait');
      const [task] = ofType(workflow, 'human_task');
      return (
        (wait?.seconds !== 172_800 || !task?.depends_on.includes(wait.id)) && 'no human task follows a wait of two days'
      );
    }),
    solution: propose(
      'Remind later',
      setName('Remind later'),
      add({ id: 'wait', type: 'wait', seconds: 172_800 }),
      add({ id: 'remind', type: 'human_task', name: 'You wanted to be reminded', depends_on: ['wait'] }),
    ),
  },
  {
    name: 'error-goes-on',
    words:
      'Build a workflow named "Best effort": a step "risky" fails with an error whenever the input has "fail": true, but the run goes on nevertheless. A step "report" always runs after it and returns "failed" or "fine". The output is {"report": …}.',
    check: checkOutputs([{ fail: true }, { report: 'failed' }], [{ fail: false }, { report: 'fine' }]),
    solution: propose(
      'Best effort',
      setName('Best effort'),
      add({ ...lua('risky', 'if input.fail then error("as asked") end\nreturn 1'), on_error: 'continue' }),
      add(lua('report', 'return steps.risky.error and "failed" or "fine"', 'risky')),
      setOutput({ report: '{{steps.report.result}}' }),
    ),
  },
];
